import { setTimeout as sleep } from "node:timers/promises";

import type { ClockControl } from "../target/target.ts";

/** A wait that does not fit what is left of `--max-wait`; what needed it is skipped. */
export class WaitRefused extends Error {
  override readonly name = "WaitRefused";
}

/** The time of a run. All in milliseconds. */
export interface RunTime {
  /** Real time since the start of the run. */
  readonly now: () => number;
  /** How far the target's clock has been moved. */
  readonly clockMs: () => number;
  /** The same, a move that is under way included. */
  readonly clockAtMostMs: () => number;
  /** Real time and moved time together: what has passed for the target, at most. */
  readonly targetMs: () => number;
  /** Real time that was spent waiting so far. */
  readonly waitedMs: () => number;
  /** Keeps so much of `--max-wait` for what comes later; replaces what was kept before. */
  readonly reserve: (ms: number) => void;
  /** Whether a wait of this length would be granted now. */
  readonly affords: (ms: number) => boolean;
  /**
   * Lets time pass for the target: moves its clock where that can be done, else sleeps.
   * @throws {WaitRefused} where `--max-wait` leaves too little.
   */
  readonly wait: (ms: number, why: string) => Promise<void>;
  /** Lets time pass, in small steps, until the promise settles; gives up after `mostMs` of the target's time. */
  readonly passUntil: <T>(promise: Promise<T>, mostMs: number) => Promise<T>;
}

export interface TimeOptions {
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

export function startTime({ clock, maxWaitMs, signal, onWait, timers = machineTimers }: TimeOptions): RunTime {
  const started = timers.now();
  const now = (): number => timers.now() - started;
  let clockMs = 0;
  let clockAtMostMs = 0;
  let waitedMs = 0;
  let reservedMs = 0;
  let waitingUntilMs = 0;
  let moving: Promise<void> = Promise.resolve();

  /** Moves come one after another, so that each knows what the clock shows. */
  const move = (control: ClockControl, ms: number): Promise<void> => {
    moving = moving.then(async () => {
      clockAtMostMs += ms;
      try {
        await control.advance(ms);
      } catch (error) {
        throw new WaitRefused(error instanceof Error ? error.message : String(error));
      }
      clockMs += ms;
    });
    return moving;
  };

  /** Waits that overlap are paid for once. */
  const costOf = (ms: number): number => Math.max(0, now() + ms - Math.max(now(), waitingUntilMs));
  const affords = (ms: number): boolean => clock !== null || waitedMs + costOf(ms) + reservedMs <= maxWaitMs + slackMs;

  const wait = async (ms: number, why: string): Promise<void> => {
    if (ms <= 0) return;
    if (clock !== null) return move(clock, ms);
    if (!affords(ms))
      throw new WaitRefused(
        `${why}: ${seconds(ms)} to wait, and --max-wait leaves ${seconds(maxWaitMs - waitedMs - reservedMs)}`,
      );
    waitedMs += costOf(ms);
    waitingUntilMs = Math.max(waitingUntilMs, now() + ms);
    onWait?.(ms, why);
    await timers.sleep(ms, signal);
  };

  const passUntil = async <T>(promise: Promise<T>, mostMs: number): Promise<T> => {
    if (clock === null) return promise;
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    promise.then(mark, mark);
    for (let passedMs = 0; passedMs < mostMs; passedMs += stepMs) {
      await sleep(settleMs);
      if (settled) break;
      await move(clock, stepMs);
    }
    return promise;
  };

  return {
    now,
    clockMs: () => clockMs,
    clockAtMostMs: () => clockAtMostMs,
    reserve: (ms) => {
      reservedMs = ms;
    },
    targetMs: () => now() + clockMs,
    waitedMs: () => waitedMs,
    affords,
    wait,
    passUntil,
  };
}

/** Two windows of a minute, each with the second that whole-second headers may hide, are to fit two minutes. */
const slackMs = 2000;

/** A step of the target's clock, and the real time that its answer has to reach us before the next. */
const stepMs = 500;
const settleMs = 2;

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))} s`;
