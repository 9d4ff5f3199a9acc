import exec from "k6/execution";
import http from "k6/http";
import type { Options } from "k6/options";

import { admissionPlan, type AdmittedByFlow, atSpeed, type Flow, type Scenario } from "../../scenarios/scenario.ts";
import type { SampleLine } from "../../src/load/engines/k6/lines.ts";
import { checkRecovery, checkSample, countResponse, iterationErrors, thresholdsOf } from "./checks.ts";
import { executorsOf, k6NameOf } from "./executors.ts";
import { type IterationOptions, sendIteration } from "./iteration.ts";
import { requestOf } from "./request.ts";
import { readSettings, type Settings } from "./settings.ts";
import { waitUntilReady } from "./setup.ts";
import { summarize, writeLine } from "./summary.ts";

interface LoadTest {
  readonly options: Options;
  readonly setup: () => void;
  readonly run: () => Promise<void>;
  readonly handleSummary: (data: unknown) => Record<string, string>;
}

/** Makes a k6 test of a scenario. Under `conformance load`, k6 only records responses, and the harness judges them. */
export function loadTest(scenario: Scenario): LoadTest {
  const settings = readSettings(__ENV);
  const flows = scenario.flows(settings.limits).map((flow) => atSpeed(flow, settings.speed));
  http.setResponseCallback(http.expectedStatuses(200, 429));
  const iterations = new Map(flows.map((flow) => [k6NameOf(flow), iterationOptions(flow, settings)]));
  const admitted = scenario.admitted(admissionPlan(flows, settings.limits, settings.burstAdds));
  return {
    options: optionsOf(flows, settings, admitted),
    setup: () => waitUntilReady(flows, settings),
    run: () => runIteration(iterations),
    handleSummary: (data) => summarize(data, scenario.name, settings),
  };
}

function optionsOf(flows: readonly Flow[], settings: Settings, admitted: AdmittedByFlow): Options {
  return {
    scenarios: executorsOf(flows),
    thresholds: settings.isRecording ? {} : thresholdsOf(flows, admitted),
    // The setup may wait for a new rate-limit window, or for the other k6 processes of the run.
    setupTimeout: "120s",
    // Keeps only these tags of k6, because every tag costs time on each request.
    systemTags: ["scenario", "status", "group", "check", "expected_response"],
    summaryTrendStats: ["avg", "med", "p(90)", "p(95)", "p(99)", "max"],
    ...(settings.client === null ? {} : { tlsAuth: [settings.client] }),
    userAgent: "agent-hosting-conformance (k6)",
  };
}

function iterationOptions(flow: Flow, settings: Settings): IterationOptions {
  const check = (sample: SampleLine): void => {
    countResponse(sample);
    checkSample(flow, sample);
  };
  return {
    flow,
    request: requestOf(flow, settings),
    speed: settings.speed,
    onSample: settings.isRecording ? writeLine : check,
    onRecovery: settings.isRecording ? () => {} : checkRecovery,
  };
}

/** Runs one iteration, and counts exceptions. The count is needed because k6 exits with 0 after an exception. */
async function runIteration(iterations: ReadonlyMap<string, IterationOptions>): Promise<void> {
  try {
    const options = iterations.get(exec.scenario.name);
    if (options === undefined) throw new Error(`No flow is named "${exec.scenario.name}".`);
    await sendIteration(options);
  } catch (error) {
    iterationErrors.add(1);
    console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
