import exec from "k6/execution";
import http from "k6/http";
import type { Options } from "k6/options";

import { atSpeed, type Scenario } from "../../scenarios/scenario.ts";
import { finish } from "./end.ts";
import { executorsOf } from "./executors.ts";
import { type Expected, type Plan, planOf } from "./expected.ts";
import { type Flow, k6NameOf } from "./flows.ts";
import { checkRecovery, checkSample, count, errors, thresholdsOf } from "./judging.ts";
import { type SampleLine, write } from "./lines.ts";
import { ready } from "./ready.ts";
import { requestOf } from "./request.ts";
import { send, type Sending } from "./sending.ts";
import { readSettings, type Settings } from "./settings.ts";

/** What a script of k6 exports. */
export interface LoadTest {
  readonly options: Options;
  readonly setup: () => void;
  readonly run: () => Promise<void>;
  readonly handleSummary: (data: unknown) => Record<string, string>;
}

/**
 * Makes a k6 test of a scenario. `expected` says how many requests of which flow must be admitted when the script is run by hand; under
 * `conformance load` the requests are recorded instead, and judged there.
 */
export function loadTest(scenario: Scenario, expected: (plan: Plan) => Expected): LoadTest {
  const settings = readSettings(__ENV);
  const flows = scenario.flows(settings.limits).map((flow) => atSpeed(flow, settings.speed));
  http.setResponseCallback(http.expectedStatuses(200, 429));
  const sendings = new Map(flows.map((flow) => [k6NameOf(flow), sendingOf(flow, settings)]));
  return {
    options: optionsOf(flows, settings, expected(planOf(flows, settings.limits, settings.burstAdds))),
    setup: () => ready(flows, settings),
    run: () => runIteration(sendings),
    handleSummary: (data) => finish(data, scenario.name, settings),
  };
}

function optionsOf(flows: readonly Flow[], settings: Settings, expected: Expected): Options {
  return {
    scenarios: executorsOf(flows),
    thresholds: settings.isRecording ? {} : thresholdsOf(flows, expected),
    // Waiting for a new window, or for the other processes of a run.
    setupTimeout: "120s",
    // Fewer tags cost less per request; the flow is the tag `scenario`.
    systemTags: ["scenario", "status", "group", "check", "expected_response"],
    summaryTrendStats: ["avg", "med", "p(90)", "p(95)", "p(99)", "max"],
    ...(settings.client === null ? {} : { tlsAuth: [settings.client] }),
    userAgent: "agent-hosting-conformance (k6)",
  };
}

function sendingOf(flow: Flow, settings: Settings): Sending {
  const judge = (sample: SampleLine): void => {
    count(sample);
    checkSample(flow, sample);
  };
  return {
    flow,
    request: requestOf(flow, settings),
    speed: settings.speed,
    done: settings.isRecording ? write : judge,
    recovered: settings.isRecording ? () => {} : checkRecovery,
  };
}

/** k6 goes on after an exception and ends with 0: so it is counted, and a threshold is on the count. */
async function runIteration(sendings: ReadonlyMap<string, Sending>): Promise<void> {
  try {
    const sending = sendings.get(exec.scenario.name);
    if (sending === undefined) throw new Error(`No flow is named "${exec.scenario.name}".`);
    await send(sending);
  } catch (error) {
    errors.add(1);
    console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
