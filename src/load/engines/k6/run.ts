import { existsSync } from "node:fs";

import { requestCount, type Scenario } from "../../scenarios.ts";
import { sumOf } from "../../../base/numbers.ts";
import { type Engine, EngineProblem, type EngineOptions } from "../../engine.ts";
import type { LoadEvidence } from "../../load-evidence.ts";
import { mergeEvidence } from "../../merge.ts";
import { stopReason } from "../../stall-timeout.ts";
import { writeCaBundle } from "./ca-bundle.ts";
import { findK6 } from "./binary.ts";
import { peakCpuShare } from "./cpu-usage.ts";
import { type Collector, openCollector } from "./collector.ts";
import { commandsOf, scriptOf } from "./command.ts";
import { evidenceOf } from "./evidence.ts";
import { explainFailure, type K6Process, startK6 } from "./process.ts";

/** One process with what it has written. */
interface Running {
  readonly segment: string;
  readonly collector: Collector;
  readonly process: K6Process;
}

const PROGRESS_MS = 250;
/** So long one process takes until its virtual users are there; several share the cores. */
const START_MS = 1500;

/** Runs a scenario with k6, in as many processes as there are segments, and merges what they saw. */
export const runK6: Engine = async (scenario, parts) => {
  const script = scriptOf(scenario.name);
  if (!existsSync(script)) throw new EngineProblem(`k6 cannot send "${scenario.name}": there is no script ${script}.`);
  const { path, version } = await findK6();
  const startedMs = Date.now();
  const authorities = writeCaBundle(parts.network);
  const running = commandsOf(script, parts, startedMs + START_MS * parts.segments, authorities.file).map(
    ({ segment, ...command }): Running => {
      const collector = openCollector();
      return { segment, collector, process: startK6(path, command, collector.take) };
    },
  );
  const stop = () => running.forEach((one) => one.process.stop());
  parts.signal.addEventListener("abort", stop, { once: true });
  if (parts.signal.aborted) stop();
  const progress = () => tell(scenario, parts, running, startedMs);
  const timer = setInterval(progress, PROGRESS_MS);
  try {
    const seen = await Promise.all(running.map((one) => finish(scenario, parts, one, { version, startedMs, stop })));
    progress();
    return withPage(parts, asPlanned(scenario, parts, mergeEvidence(seen, 0)));
  } finally {
    authorities.remove();
    clearInterval(timer);
    parts.signal.removeEventListener("abort", stop);
    stop();
  }
};

interface Run {
  readonly version: string;
  readonly startedMs: number;
  /** Stops all processes: one that failed makes the others useless. */
  readonly stop: () => void;
}

async function finish(scenario: Scenario, parts: EngineOptions, running: Running, run: Run): Promise<LoadEvidence> {
  const end = await running.process.ended;
  const collected = running.collector.collected();
  const problem = explainFailure(end, collected.end, parts.signal.aborted);
  if (problem !== null) {
    run.stop();
    throw problem;
  }
  return evidenceOf(scenario, collected, {
    engineVersion: run.version,
    tier: parts.tier,
    limits: parts.limits,
    speed: parts.speed,
    isFresh: parts.isFresh,
    segment: running.segment,
    startedMs: run.startedMs,
    busiest: collected.span === null ? null : peakCpuShare(end.business, collected.span.fromMs, collected.span.toMs),
    stopped: stopReason(parts.signal),
  });
}

/** All segments together send what the flows ask for; one segment does not know how much of it is its own. */
function asPlanned(scenario: Scenario, parts: EngineOptions, evidence: LoadEvidence): LoadEvidence {
  if (evidence.stopped !== null) return evidence;
  const requests = scenario.flows(parts.limits).map((flow) => requestCount(flow) ?? sentOf(evidence, flow.name));
  return { ...evidence, generator: { ...evidence.generator, planned: sumOf(requests) } };
}

/** k6 writes its page from readings a second apart: of a run of two or three seconds there is none. */
function withPage({ dashboardFile }: EngineOptions, evidence: LoadEvidence): LoadEvidence {
  if (dashboardFile === null || existsSync(dashboardFile)) return evidence;
  return { ...evidence, notes: [...evidence.notes, "k6 wrote no page of its own: the run was too short for one."] };
}

function sentOf({ requests, summary }: LoadEvidence, flow: string): number {
  const kept = requests.filter((sample) => sample.flow === flow).length;
  const counted = summary.filter((slot) => slot.flow === flow);
  return counted.reduce((sum, slot) => sum + slot.admitted + slot.refused + slot.failed + slot.unanswered, kept);
}

function tell(scenario: Scenario, parts: EngineOptions, running: readonly Running[], startedMs: number): void {
  const total = (name: keyof Collector["counts"]) => running.reduce((sum, one) => sum + one.collector.counts[name], 0);
  parts.onProgress({
    elapsedMs: Date.now() - startedMs,
    expectedMs: (scenario.seconds(parts.limits) * 1000) / parts.speed,
    sent: total("sent"),
    admitted: total("admitted"),
    limited: total("limited"),
    failed: total("failed"),
  });
}
