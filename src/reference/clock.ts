import { createClock } from "@sinonjs/fake-timers";
import { hourMs } from "../base/duration.ts";

export type Timer = unknown;

/** The time and the timers of the reference server. Times are Unix milliseconds. */
export interface Clock {
  now(): number;
  setTimeout(run: () => void, ms: number): Timer;
  clearTimeout(timer: Timer): void;
}

export interface VirtualClock extends Clock {
  /**
   * Moves the clock forward by `ms` and runs all due timers. Before each timer, waits for `settled()`, e.g. until all
   * sent deliveries have a response.
   */
  advance(ms: number, settled?: () => Promise<void>): Promise<void>;
}

/** Start time of a virtual clock: not the start of a minute, because real servers do not start then either. */
export const virtualEpochMs = Date.UTC(2026, 2, 4, 5, 6, 7);

/** Creates a clock with the machine's time. Its timers do not keep the process alive. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    setTimeout: (run, ms) => setTimeout(run, ms).unref(),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
}

export function virtualClock(epochMs: number = virtualEpochMs): VirtualClock {
  const clock = createClock(epochMs);
  const dueMs = new Map<Timer, number>();
  const runUntil = async (untilMs: number, settled: () => Promise<void>): Promise<void> => {
    for (;;) {
      await settled();
      const next = Math.min(...dueMs.values());
      if (next > untilMs) return void (await clock.tickAsync(untilMs - clock.now));
      await clock.tickAsync(next - clock.now);
    }
  };
  let lastAdvance = Promise.resolve();
  return {
    now: () => clock.now,
    setTimeout: (run, ms) => {
      const due = () => {
        dueMs.delete(timer);
        run();
      };
      const timer: Timer = clock.setTimeout(due, ms);
      // fake-timers truncates delays to whole milliseconds, and extends 0 ms to 1 ms within a timer's callback.
      dueMs.set(timer, clock.now + Math.max(1, Math.trunc(ms)));
      return timer;
    },
    clearTimeout: (timer) => {
      dueMs.delete(timer);
      clock.clearTimeout(timer as ReturnType<typeof clock.setTimeout>);
    },
    advance: (ms, settled = () => Promise.resolve()) => {
      lastAdvance = lastAdvance.catch(() => {}).then(() => runUntil(clock.now + ms, settled));
      return lastAdvance;
    },
  };
}

export function isVirtualClock(clock: Clock): clock is VirtualClock {
  return "advance" in clock;
}

export function acceleratedClock(speed: number) {
  const real = systemClock();
  let rate = assertSpeed(speed);
  let startMs = real.now();
  let realStartMs = performance.now();
  const exactNow = (): number => startMs + (performance.now() - realStartMs) * rate;
  const restartAt = (ms: number): void => {
    startMs = ms;
    realStartMs = performance.now();
  };
  return {
    now: () => Math.floor(exactNow()),
    setTimeout: (run: () => void, ms: number) => real.setTimeout(run, Math.ceil(ms / rate)),
    clearTimeout: (timer: Timer) => real.clearTimeout(timer),
    /** Sets the speed relative to the machine's clock. Timers that are already set keep their real duration. */
    setSpeed: (wanted: number) => {
      const next = assertSpeed(wanted);
      restartAt(exactNow());
      rate = next;
    },
    /** Moves the clock to the beginning of the next hour. Timers that are already set keep their real duration. */
    skipToNextHour: () => restartAt((Math.floor(exactNow() / hourMs) + 1) * hourMs),
  };
}

function assertSpeed(speed: number): number {
  if (speed > 0 && Number.isFinite(speed)) return speed;
  throw new RangeError(`A clock cannot run ${speed} times as fast: the speed must be above 0.`);
}
