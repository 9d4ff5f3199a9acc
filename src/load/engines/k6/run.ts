import { existsSync } from "node:fs";

import { type Draft, temporaryFileFor } from "../../../base/files/replace-file.ts";
import { harnessLimitIn } from "../../../base/harness-limit.ts";
import { sumOf } from "../../../base/numbers.ts";
import { type Engine, type EngineOptions, EngineProblem } from "../../engine.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import { mergeEvidence } from "../../merge.ts";
import type { RequestCounts } from "../../second-counts.ts";
import { requestCount, type Scenario } from "../../scenarios.ts";
import { stopReason } from "../../target-watch.ts";
import { findK6 } from "./binary.ts";
import { commandsOf, scriptOf, writeCaBundle } from "./command.ts";
import { createLineCollector, evidenceOf, type LineCollector } from "./evidence.ts";
import { explainFailure, type K6Process, peakCpuShare, startK6 } from "./process.ts";

interface RunningK6 {
  readonly segment: string;
  readonly collector: LineCollector;
  readonly process: K6Process;
}

const PROGRESS_MS = 250;
/** Time to allow for the start of each k6 process, in ms. Two processes begin to send together after 3 s. */
const START_MS = 1500;

export const runK6: Engine = async (scenario, options) => {
  const script = scriptOf(scenario.name);
  if (!existsSync(script)) throw new EngineProblem(`k6 cannot send "${scenario.name}": there is no script ${script}.`);
  const { path, version } = await findK6();
  const startedMs = Date.now();
  const caBundle = writeCaBundle(options.network);
  const page = options.dashboardFile === null ? null : temporaryFileFor(options.dashboardFile);
  const own = { ...options, dashboardFile: page?.path ?? null };
  const running = commandsOf(script, own, startedMs + START_MS * options.segments, caBundle.file).map(
    ({ segment, ...command }): RunningK6 => {
      const collector = createLineCollector();
      return { segment, collector, process: startK6(path, command, collector.take) };
    },
  );
  const stop = () => running.forEach((one) => one.process.stop());
  options.signal.addEventListener("abort", stop, { once: true });
  if (options.signal.aborted) stop();
  const progress = () => reportProgress(scenario, options, running, startedMs);
  const timer = setInterval(progress, PROGRESS_MS);
  try {
    const parts = await Promise.all(
      running.map((one) => evidenceOfProcess(scenario, options, one, { version, startedMs, stop })),
    );
    progress();
    return withPageNote(page, withPlanned(scenario, options, mergeEvidence(parts, 0)));
  } finally {
    caBundle.remove();
    clearInterval(timer);
    options.signal.removeEventListener("abort", stop);
    stop();
  }
};

async function evidenceOfProcess(
  scenario: Scenario,
  { tier, limits, speed, isFresh, signal }: EngineOptions,
  running: RunningK6,
  { version, startedMs, stop }: { readonly version: string; readonly startedMs: number; readonly stop: () => void },
): Promise<LoadEvidence> {
  const end = await running.process.ended;
  const collected = running.collector.collected();
  const limit = harnessLimitIn([...collected.failures.keys()].join("\n"));
  const problem = limit ?? explainFailure(end, collected.end, signal.aborted);
  if (problem !== null) {
    // If one k6 process fails, the others stop, too: the evidence needs all of them.
    stop();
    throw problem;
  }
  const { span } = collected;
  return evidenceOf(scenario, collected, {
    engineVersion: version,
    tier,
    limits,
    speed,
    isFresh,
    segment: running.segment,
    startedMs,
    peakCpu: span === null ? null : peakCpuShare(end.cpu, span.fromMs, span.toMs),
    stopped: stopReason(signal),
  });
}

/** Sets `planned`. A flow adds its planned requests or, if it has a duration instead of a number, its sent requests. */
function withPlanned(scenario: Scenario, { limits }: EngineOptions, evidence: LoadEvidence): LoadEvidence {
  if (evidence.stopped !== null) return evidence;
  const requests = scenario.flows(limits).map((flow) => requestCount(flow) ?? sentByFlow(evidence, flow.name));
  return { ...evidence, generator: { ...evidence.generator, planned: sumOf(requests) } };
}

function sentByFlow({ requests, summary }: LoadEvidence, flow: string): number {
  const sampledCount = requests.filter((sample) => sample.flow === flow).length;
  const counts = summary.filter((each) => each.flow === flow);
  return counts.reduce((sum, each) => sum + each.admitted + each.refused + each.failed + each.unanswered, sampledCount);
}

function withPageNote(page: Draft | null, evidence: LoadEvidence): LoadEvidence {
  if (page === null || page.commit()) return evidence;
  return { ...evidence, notes: [...evidence.notes, "k6 wrote no page of its own: the run was too short for one."] };
}

function reportProgress(
  scenario: Scenario,
  { limits, speed, onProgress }: EngineOptions,
  running: readonly RunningK6[],
  startedMs: number,
): void {
  const total = (name: keyof RequestCounts) => sumOf(running.map(({ collector }) => collector.counts[name]));
  onProgress({
    elapsedMs: Date.now() - startedMs,
    expectedMs: (scenario.seconds(limits) * 1000) / speed,
    sent: total("sent"),
    admitted: total("admitted"),
    refused: total("refused"),
    failed: total("failed"),
  });
}
