import { traceOf } from "../base/errors.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { countBelow, sortedValues } from "../base/lists.ts";
import { type Sample, sampleOf } from "../rules/limits/sample.ts";
import { type ClockControl, defaultKeyTraits, type Target } from "../target/target.ts";
import type { Suite } from "./judge/check.ts";
import { type PlannedProbe, planProbes, type ProbeRunResult } from "./plan/plan.ts";
import type { Probe, ProbeContext } from "./probe.ts";
import { createContext } from "./run-context.ts";
import { judgeRun, noReceiver, type RunResult } from "./run-result.ts";
import { openClient } from "./send/client.ts";
import type { OutageMonitor } from "./send/outages.ts";
import type { Need } from "./plan/needs.ts";

/** Exchanges that no probe sent, e.g. from a HAR file of a browser, or recorded by this harness as a proxy. */
export interface RecordedTraffic {
  /** The recorded server and its keys. A key counts as expired unless the recording proves that the key works. */
  readonly target: Target;
  readonly exchanges: readonly Exchange[];
  /** Rate-limit samples of requests whose exchanges were not kept. */
  readonly samples: readonly { readonly key: string; readonly sample: Sample }[];
  readonly startedUnixMs: number;
  readonly durationMs: number;
  /** Why the recording ended early; `null` if it is complete. */
  readonly stopped: string | null;
}

/** Judges recorded traffic without sending requests. All probes of the suites must be of the stage `review`. */
export async function reviewRecording(traffic: RecordedTraffic, suites: readonly Suite[]): Promise<RunResult> {
  const exchanges = traffic.exchanges.toSorted((one, other) => one.sentMs - other.sentMs);
  const maxClockMs = exchanges.reduce((max, { clockMs }) => Math.max(max, clockMs), 0);
  const target = { ...traffic.target, clock: maxClockMs > 0 ? unusableClock : null };
  const context = createContext({ target, signal: new AbortController().signal, onHarnessLimit: () => {} });
  try {
    const clockAfter = clockOffsetAfter(exchanges, maxClockMs);
    for (const exchange of exchanges)
      context.recorder.record(
        exchange,
        sampleOf(exchange, Math.max(exchange.clockMs, clockAfter(exchange.answer.endMs))),
      );
    for (const { key, sample } of traffic.samples) context.recorder.recordSample(key, sample);
    const time = {
      ...context.time,
      now: () => Date.now() - traffic.startedUnixMs,
      maxClockOffsetMs: () => maxClockMs,
    };
    const review: ProbeContext<Need> = {
      ...context,
      time,
      target,
      given: {} as ProbeContext<Need>["given"],
      client: openClient(context, { ...defaultKeyTraits, name: "", key: "", variable: "" }),
      outages: unknownOutages(context.outages),
      discovery: noDiscovery,
      receiver: () => Promise.reject(new Error("a recording has no receiver")),
      coverageSeed: 1,
      limitTests: () => [],
    };
    const runs = await Promise.all(
      planProbes(suites, target).map(async (planned) => ({ planned, result: await reviewOrSkip(planned, review) })),
    );
    const record = judgeRun({ target, suites }, { ...context, time }, { target, runs });
    return { kind: "judged", stopped: traffic.stopped, ...record, ...noReceiver, durationMs: traffic.durationMs };
  } finally {
    context.outages.close();
    await context.transport.close();
  }
}

const unusableClock: ClockControl = {
  advance: () => Promise.reject(new Error("the clock of a recording cannot be advanced")),
  settleMs: 0,
  agentsFollow: false,
};

/** A recording shows no outages. `count` is 1: checks then allow for a restart. `all` is empty: its time is unknown. */
const unknownOutages = (outages: OutageMonitor): OutageMonitor => ({ ...outages, count: () => 1, all: () => [] });

export const noExchange: Exchange = {
  id: "",
  key: null,
  request: { method: "GET", url: "", headers: [], body: { kind: "none" } },
  sentMs: 0,
  clockMs: 0,
  answer: { kind: "unanswered", reason: "unreachable", detail: "not sent", endMs: 0 },
};

const noDiscovery = { listing: noExchange, usage: noExchange, health: [], invoked: null } as const;

/**
 * Returns a function that estimates how far the test clock was advanced at a given time: as far as at the next request,
 * or by `maxClockMs` after the last request.
 */
function clockOffsetAfter(sorted: readonly Exchange[], maxClockMs: number): (ms: number) => number {
  if (maxClockMs === 0) return () => 0;
  const sentMs = sortedValues(sorted, (each) => each.sentMs);
  return (ms) => sorted[countBelow(sentMs, ms)]?.clockMs ?? maxClockMs;
}

async function reviewOrSkip({ probe, skip }: PlannedProbe, context: ProbeContext<Need>): Promise<ProbeRunResult> {
  if (skip !== null) return { kind: "skipped", ...skip };
  try {
    return { kind: "ran", evidence: await runReview(probe, context) };
  } catch (error) {
    return { kind: "broken", error: traceOf(error) };
  }
}

function runReview(probe: Probe, context: ProbeContext<Need>): Promise<unknown> {
  if (probe.stage !== "review" || probe.per !== "target")
    throw new Error(`the probe "${probe.name}" sends requests, and so cannot judge a recording`);
  return probe.run(context);
}
