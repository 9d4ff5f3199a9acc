import { setImmediate as turn } from "node:timers/promises";

import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { noOutages } from "../../run/send/outages.ts";
import { executeStages } from "../../run/execute.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { hasFewRequests, type TierUnderTest } from "../../run/plan/needs.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import { unlimitedBudget } from "../../run/run-probe.ts";
import { requestsOf, type WaitOptions } from "../../run/probe.ts";
import { startPacer } from "../../run/send/pacer.ts";
import { type RunClock, startRunClock, type Timers } from "../../run/time/run-clock.ts";
import { WaitRefused } from "../../run/skip-reason.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { firstKeyOfProbe } from "./plan-rows.ts";

export interface SimulatedRun {
  readonly unaffordable: ReadonlySet<PlannedProbe>;
  readonly waitedMs: number;
}

interface SimulationOptions {
  readonly target: Target;
  readonly main: TargetKey;
  readonly discoveryRequests: number;
  readonly maxWaitMs: number;
}

/** Simulates the waits of a run. The result is an estimate: simulated responses take no time and never fail. */
export async function simulateRun(planned: readonly PlannedProbe[], parts: SimulationOptions): Promise<SimulatedRun> {
  const { target, main, discoveryRequests, maxWaitMs } = parts;
  const { signal } = new AbortController();
  const time = startRunClock({ clock: null, maxWaitMs, signal, timers: virtualTimers() });
  const pacer = startPacer(time, (key) => limitsOf(key, target));
  const unaffordable = new Set<PlannedProbe>();
  const send = async (key: TargetKey): Promise<void> => {
    const release = await pacer.acquire(key);
    pacer.observe(key, simulatedSample(time.now()));
    release();
    await yieldToOthers();
  };
  const beginMinute = ({ key, limits: { perMinute } }: TierUnderTest): void =>
    pacer.observe(key, {
      ...simulatedSample(time.now()),
      limit: perMinute,
      remaining: perMinute - 1,
      resetAfter: windowSeconds,
    });
  for (let sent = 0; sent < discoveryRequests; sent++) await send(main);
  const endedMs = new Map<string, number>();
  await executeStages(planned, {
    time,
    signal,
    maxWaitMs,
    outages: noOutages,
    budget: unlimitedBudget,
    hasWebhookAgent: true,
    pendingRequests: Promise.resolve(),
    availableRequests: () => pacer.availableRequests(main),
    hasFewRequests: hasFewRequests(target),
    perform: (each, ownTime) => simulateProbe(each, { target, main, time: ownTime, endedMs, send, beginMinute }),
    onProbe: ({ planned: each, result }) => {
      if (result.kind === "broken") throw new Error(result.error);
      if (result.kind === "skipped") unaffordable.add(each);
      else endedMs.set(each.probe.name, time.now());
    },
  });
  return { unaffordable, waitedMs: time.waitedMs() };
}

async function yieldToOthers(): Promise<void> {
  for (let steps = 0; steps < handoverMicrotasks; steps++) await Promise.resolve();
}

/** After each simulated request, a probe waits this many microtasks. Meanwhile, another probe can send a request. */
const handoverMicrotasks = 10;

interface SimulationContext {
  readonly target: Target;
  readonly main: TargetKey;
  readonly time: RunClock;
  readonly endedMs: ReadonlyMap<string, number>;
  readonly send: (key: TargetKey) => Promise<void>;
  /** Tells the pacer that the tier's key has just sent the first request of a new minute window. */
  readonly beginMinute: (tested: TierUnderTest) => void;
}

async function simulateProbe({ probe, tested }: PlannedProbe, context: SimulationContext): Promise<void> {
  const { target, main, time, send } = context;
  if (probe.per === "target") {
    const sendAll = async (): Promise<void> => {
      const requests = requestsOf(probe, null, target);
      const key = firstKeyOfProbe(probe, { target, main });
      for (let sent = 0; sent < requests; sent++) await send(key);
    };
    await (probe.mayDropRequests ? untilOutOfTime(sendAll) : sendAll());
    if (probe.waits !== undefined) await simulateWait(probe.waits, context);
    return;
  }
  if (tested === null) throw new Error(`the probe "${probe.name}" was planned without a tier`);
  // A probe of the `limits` stage needs no simulated requests: its `waitSeconds` already contains all waits.
  if (probe.stage === "limits") {
    await time.passTime(probe.waitSeconds(tested) * 1000, probe.name);
    return context.beginMinute(tested);
  }
  for (let sent = 0; sent < probe.requests(tested, target); sent++) await send(tested.key);
}

async function untilOutOfTime(sendAll: () => Promise<void>): Promise<void> {
  try {
    await sendAll();
  } catch (error) {
    if (!(error instanceof WaitRefused)) throw error;
  }
}

async function simulateWait(waits: WaitOptions, { target, time, endedMs }: SimulationContext): Promise<void> {
  const { mode, seconds } = waits;
  const ms = (typeof seconds === "number" ? seconds : seconds(target)) * 1000;
  if (mode === "required") return time.passTime(ms, mode);
  if (mode === "since the start") return time.passTime(ms - time.now(), mode);
  if (mode === "optional") return time.canWait(ms) ? time.passTime(ms, mode) : undefined;
  if (mode === "reserved" && !time.canWait(ms)) throw new WaitRefused(mode);
  if (mode !== "until exhausted") return;
  const untilMs = (endedMs.get(waits.after) ?? -Infinity) + ms;
  while (time.now() < untilMs && time.canWait(waitStepMs)) await time.passTime(waitStepMs, mode);
}

const waitStepMs = 1000;
const windowSeconds = 60;

const simulatedSample = (ms: number): Sample => ({
  id: "",
  kind: "other",
  sentMs: ms,
  headMs: ms,
  endMs: ms,
  sentClockMs: 0,
  headClockMs: 0,
  endClockMs: 0,
  status: 200,
  ...noRateLimitInfo,
});

/** Finds a `--max-wait`, in minutes, that is enough for all probes. Returns `null` if a day is not enough. */
export async function findSufficientWaitMinutes(
  planned: readonly PlannedProbe[],
  parts: SimulationOptions,
): Promise<number | null> {
  const run = (minutes: number): Promise<SimulatedRun> =>
    simulateRun(planned, { ...parts, maxWaitMs: minutes * 60_000 });
  const all = await run(maxSearchedMinutes);
  if (all.unaffordable.size > 0) return null;
  const first = Math.max(1, Math.ceil(all.waitedMs / 60_000) - searchMarginMinutes);
  for (let minutes = first; minutes < maxSearchedMinutes; minutes++)
    if ((await run(minutes)).unaffordable.size === 0) return minutes;
  return maxSearchedMinutes;
}

const maxSearchedMinutes = 24 * 60;
/**
 * The search starts this many minutes below the waiting time of a run with a `--max-wait` of one day. That run also
 * makes optional waits, so fewer minutes can suffice. The result may not be the minimum.
 */
const searchMarginMinutes = 2;

/** Virtual time advances after this many event-loop turns without a new timer: by then, all code sleeps. */
const idleTurns = 3;

/** Creates timers with a virtual clock. When all code sleeps, the clock jumps to the next wake-up time. */
export function virtualTimers(): Timers {
  let nowMs = 0;
  let isWaking = false;
  const sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];

  const wakeNext = async (): Promise<void> => {
    isWaking = true;
    while (sleepers.length > 0) {
      for (let turns = 0, known = -1; turns < idleTurns; turns++) {
        if (sleepers.length !== known) turns = 0;
        known = sleepers.length;
        await turn();
      }
      sleepers.sort((one, other) => one.untilMs - other.untilMs);
      const next = sleepers.shift();
      if (next === undefined) break;
      nowMs = Math.max(nowMs, next.untilMs);
      next.wake();
    }
    isWaking = false;
  };

  const sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      sleepers.push({ untilMs: nowMs + ms, wake });
      if (!isWaking) void wakeNext();
    });

  return { now: () => nowMs, sleep };
}
