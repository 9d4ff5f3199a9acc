import type { Sample } from "../../rules/limits/sample.ts";
import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { executeStages } from "../../run/execute.ts";
import { startPacer } from "../../run/send/pacing.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import { requestsOf, type WaitOptions } from "../../run/probe.ts";
import { hasFewRequests, type TierUnderTest } from "../../run/plan/needs.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { type RunClock, startRunClock } from "../../run/time/run-clock.ts";
import { WaitRefused } from "../../run/skip-reason.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { virtualTimers } from "./virtual-timers.ts";

/** How the waits of a run come to lie within its bound. */
export interface DryRun {
  /** Probes for which too little is left. */
  readonly short: ReadonlySet<PlannedProbe>;
  readonly waitedMs: number;
}

export interface DryRunParts {
  readonly target: Target;
  readonly main: TargetKey;
  /** What the look before the first probe sends with the main key. */
  readonly looked: number;
  readonly maxWaitMs: number;
}

/**
 * Goes through a run on a time of its own, with the pacing, the order and the budget of a real one; sends nothing. An estimate: it
 * takes answers to need no time, and to come as the document says.
 *
 * @param planned what a run would try
 */
export async function dryRun(planned: readonly PlannedProbe[], parts: DryRunParts): Promise<DryRun> {
  const { target, main, looked, maxWaitMs } = parts;
  const { signal } = new AbortController();
  const time = startRunClock({ clock: null, maxWaitMs, signal, timers: virtualTimers() });
  const pacer = startPacer(time, (key) => limitsOf(key, target));
  const short = new Set<PlannedProbe>();
  const send = async (key: TargetKey): Promise<void> => {
    const done = await pacer.acquire(key);
    pacer.observe(key, answerAt(time.now()));
    done();
    await othersTurn();
  };
  const begins = ({ key, limits: { perMinute } }: TierUnderTest): void =>
    pacer.observe(key, {
      ...answerAt(time.now()),
      limit: perMinute,
      remaining: perMinute - 1,
      resetAfter: windowSeconds,
    });
  for (let sent = 0; sent < looked; sent++) await send(main);
  const endedMs = new Map<string, number>();
  await executeStages(planned, {
    time,
    signal,
    maxWaitMs,
    hasWebhookAgent: true,
    pendingRequests: Promise.resolve(),
    availableRequests: () => pacer.availableRequests(main),
    hasFewRequests: hasFewRequests(target),
    perform: (each, ownTime) => perform(each, { target, main, time: ownTime, endedMs, send, begins }),
    onProbe: ({ planned: each, result }) => {
      if (result.kind === "broken") throw new Error(result.error);
      if (result.kind === "skipped") short.add(each);
      else endedMs.set(each.probe.name, time.now());
    },
  });
  return { short, waitedMs: time.waitedMs() };
}

/** Who waits for its turn with a key takes it before the one that has just had its answer. */
async function othersTurn(): Promise<void> {
  for (let steps = 0; steps < stepsOfTurn; steps++) await Promise.resolve();
}

/** A turn is handed on within so many steps of the event loop's queue of promises. */
const stepsOfTurn = 10;

interface Stage {
  readonly target: Target;
  readonly main: TargetKey;
  readonly time: RunClock;
  /** When probes were over that ran, by name. */
  readonly endedMs: ReadonlyMap<string, number>;
  readonly send: (key: TargetKey) => Promise<void>;
  /** A window has begun with one request. */
  readonly begins: (tested: TierUnderTest) => void;
}

async function perform({ probe, tested }: PlannedProbe, stage: Stage): Promise<void> {
  const { target, main, time, send } = stage;
  if (probe.per === "target") {
    const sendAll = async (): Promise<void> => {
      const requests = requestsOf(probe, null, target);
      for (let sent = 0; sent < requests; sent++) await send(main);
    };
    await (probe.mayDropRequests ? asFarAsGranted(sendAll) : sendAll());
    if (probe.waits !== null) await letPass(probe.waits, stage);
    return;
  }
  if (tested === null) throw new Error(`the probe "${probe.name}" was planned without a tier`);
  // A probe that uses a key up waits for its windows by itself; others need room in one.
  if (probe.stage === "limits") {
    await time.passTime(probe.waitSeconds(tested) * 1000, probe.name);
    return stage.begins(tested);
  }
  for (let sent = 0; sent < probe.requests(tested); sent++) await send(tested.key);
}

async function asFarAsGranted(sendAll: () => Promise<void>): Promise<void> {
  try {
    await sendAll();
  } catch (error) {
    if (!(error instanceof WaitRefused)) throw error;
  }
}

async function letPass(waits: WaitOptions, { target, time, endedMs }: Stage): Promise<void> {
  const { mode, seconds } = waits;
  const ms = (typeof seconds === "number" ? seconds : seconds(target)) * 1000;
  if (mode === "required") return time.passTime(ms, mode);
  if (mode === "since the start") return time.passTime(ms - time.now(), mode);
  if (mode === "optional") return time.canWait(ms) ? time.passTime(ms, mode) : undefined;
  if (mode === "reserved" && !time.canWait(ms)) throw new WaitRefused(mode);
  if (mode !== "until exhausted") return;
  const untilMs = (endedMs.get(waits.after) ?? -Infinity) + ms;
  while (time.now() < untilMs && time.canWait(stepMs)) await time.passTime(stepMs, mode);
}

const stepMs = 1000;
const windowSeconds = 60;

/** An answer that counts, and shows nothing of its limiter. */
const answerAt = (ms: number): Sample => ({
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

/** The least bound of waiting, in whole minutes, for which nothing is left out; `null` where none of a day is enough. */
export async function enoughMinutes(planned: readonly PlannedProbe[], parts: DryRunParts): Promise<number | null> {
  const run = (minutes: number): Promise<DryRun> => dryRun(planned, { ...parts, maxWaitMs: minutes * 60_000 });
  const all = await run(mostMinutes);
  if (all.short.size > 0) return null;
  const first = Math.max(1, Math.ceil(all.waitedMs / 60_000) - roomMinutes);
  for (let minutes = first; minutes < mostMinutes; minutes++) if ((await run(minutes)).short.size === 0) return minutes;
  return mostMinutes;
}

const mostMinutes = 24 * 60;
/** Some waits are taken only where they are left: a run does with so much less. */
const roomMinutes = 2;
