import { setTimeout as sleep } from "node:timers/promises";

import type { ClockControl } from "../../target/target.ts";
import { createAgentClock } from "./agent-clock.ts";
import { type TargetClock, startTargetClock } from "./target-clock.ts";
import { need } from "../skip-reason.ts";
import { createWaitBudget, WaitRefused } from "./wait-budget.ts";

/** The time of a run. All in milliseconds. */
export interface RunClock {
  /** Real time since the start of the run. */
  readonly now: () => number;
  /** How far the target's clock has been moved. */
  readonly clockOffsetMs: () => number;
  /** The same, a move that is under way included. */
  readonly maxClockOffsetMs: () => number;
  /** Real time and moved time together: what has passed for the target, at most. */
  readonly targetMs: () => number;
  /** Real time that was spent waiting so far. */
  readonly waitedMs: () => number;
  /** Keeps so much of the waiting for what comes later; replaces what was kept before. */
  readonly reserve: (ms: number) => void;
  /** Whether the target's clock can be moved. */
  readonly canMove: boolean;
  /** Real time after a move of the target's clock in which what it started reaches us; 0 without a clock. */
  readonly settleMs: number;
  /** Whether agents tell the time by the clock that is moved, as far as somebody promised. */
  readonly agentsFollow: boolean;
  /** Whether a wait of this length would be granted now. */
  readonly canWait: (ms: number) => boolean;
  /**
   * Lets time pass for the target: moves its clock where that can be done, else sleeps.
   * @throws {WaitRefused} where too little waiting is left.
   */
  readonly passTime: (ms: number, why: string) => Promise<void>;
  /** A moment of real time, which no budget counts. @throws the signal's reason where the run is interrupted. */
  readonly sleepReal: (ms: number) => Promise<void>;
  /** The same where nothing is to reach us meanwhile, so that it passes as the timers of the run tell it. */
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * Lets time pass, in small steps, until the promise settles; gives up after `mostMs` of the target's time. A step is 500 ms, or `stepMs`;
   * before each, what the last one brought has `restMs` of real time to reach us.
   */
  readonly passUntil: <T>(promise: Promise<T>, mostMs: number, stepMs?: number, restMs?: number) => Promise<T>;
  /** The same for what an agent takes its time for, which it may take in real time whatever the clock says: then nothing is moved. */
  readonly awaitAgent: <T>(promise: Promise<T>, mostMs: number, stepMs?: number, restMs?: number) => Promise<T>;
  /** Whether the target's clock can be moved, and its agents were seen to live in real time all the same. */
  readonly agentsUseRealTime: () => boolean;
}

/** The same time for whoever is to leave so much of the waiting to others. */
export function withReservedWait(ms: number, time: RunClock): RunClock {
  if (ms === 0 || time.canMove) return time;
  const canWait = (waitMs: number): boolean => time.canWait(waitMs + ms);
  const passTime: RunClock["passTime"] = async (waitMs, why) => {
    if (waitMs > 0 && !canWait(waitMs))
      throw new WaitRefused(
        { why: "no time left", takes: `it needs ${Math.ceil(waitMs / 1000)} s of waiting` },
        need("maxWaitMs"),
      );
    return time.passTime(waitMs, why);
  };
  return { ...time, canWait, passTime };
}

export interface RunClockOptions {
  readonly clock: ClockControl | null;
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Told when a real wait begins. */
  readonly onWait?: (ms: number, why: string) => void;
  /** What real time is: the machine's, unless a run is given another. */
  readonly timers?: Timers;
}

/** Where a run takes real time from. All in milliseconds. */
export interface Timers {
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const machineTimers: Timers = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

export function startRunClock({ clock, maxWaitMs, signal, onWait, timers = machineTimers }: RunClockOptions): RunClock {
  const started = timers.now();
  const now = (): number => timers.now() - started;
  const moved = clock === null ? null : startTargetClock(clock);
  const budget = createWaitBudget(maxWaitMs, now);
  const clockOffsetMs = (): number => moved?.offsetMs() ?? 0;

  const passTime = async (ms: number, why: string): Promise<void> => {
    signal.throwIfAborted();
    if (ms <= 0) return;
    if (moved !== null) return moved.advance(ms);
    budget.take(ms, why);
    onWait?.(ms, why);
    await timers.sleep(ms, signal);
  };

  const sleepReal = (ms: number): Promise<void> => sleep(ms, undefined, { signal });
  const agents = createAgentClock(clock?.agentsFollow ?? false);
  const passUntil: RunClock["passUntil"] = (promise, mostMs, stepMs = standardStepMs, restMs = standardRestMs) =>
    moved === null ? promise : moveUntil(promise, mostMs, { stepMs, restMs }, moved);

  return {
    now,
    clockOffsetMs,
    maxClockOffsetMs: () => moved?.maxOffsetMs() ?? 0,
    targetMs: () => now() + clockOffsetMs(),
    canMove: moved !== null,
    settleMs: clock?.settleMs ?? 0,
    agentsFollow: clock?.agentsFollow ?? false,
    waitedMs: budget.takenMs,
    reserve: budget.reserve,
    canWait: (ms) => moved !== null || budget.canWait(ms),
    passTime,
    sleepReal,
    sleep: (ms) => timers.sleep(ms, signal),
    passUntil,
    awaitAgent: (promise, ...steps) =>
      moved === null ? promise : agents.awaitAgent(promise, () => passUntil(promise, ...steps)),
    agentsUseRealTime: agents.isReal,
  };
}

/** A step of the target's clock, and the real time that its answer has to reach us before the next. */
const standardStepMs = 500;
const standardRestMs = 2;

async function moveUntil<T>(
  promise: Promise<T>,
  mostMs: number,
  { stepMs, restMs }: { readonly stepMs: number; readonly restMs: number },
  { advance }: TargetClock,
): Promise<T> {
  let settled = false;
  const mark = (): void => {
    settled = true;
  };
  promise.then(mark, mark);
  for (let passedMs = 0; passedMs < mostMs; passedMs += stepMs) {
    await sleep(restMs);
    if (settled) break;
    await advance(stepMs);
  }
  return promise;
}
