import { createClock } from "@sinonjs/fake-timers";
import { hourMs } from "./limits/windows.ts";

/** What a timer is, opaque to its users: only the clock that made it can clear it. */
export type Timer = unknown;

/** The only source of time in the reference server. Instants are Unix milliseconds. */
export interface Clock {
  now(): number;
  setTimeout(run: () => void, ms: number): Timer;
  clearTimeout(timer: Timer): void;
}

/** A clock that stands still until it is advanced. */
export interface VirtualClock extends Clock {
  /**
   * Moves the clock forward by `ms`; resolves when every timer that fell due has run. It goes from timer to timer, and
   * stands still at each instant until `settled` resolves: what begins there may end there, however little time there is.
   */
  advance(ms: number, settled?: () => Promise<void>): Promise<void>;
}

/** Where a virtual clock starts; deliberately neither on a minute nor on an hour. */
export const virtualEpochMs = Date.UTC(2026, 2, 4, 5, 6, 7);

/** The machine's clock. Its timers never keep the process alive. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    setTimeout: (run, ms) => setTimeout(run, ms).unref(),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
}

/** A clock of its own, frozen at `epochMs` until advanced; no global timer is touched. */
export function virtualClock(epochMs: number = virtualEpochMs): VirtualClock {
  const clock = createClock(epochMs);
  /** When each timer is due, at the latest. */
  const dueMs = new Map<Timer, number>();
  const step = async (untilMs: number, settled: () => Promise<void>): Promise<void> => {
    for (;;) {
      await settled();
      const next = Math.min(...dueMs.values());
      if (next > untilMs) return void (await clock.tickAsync(untilMs - clock.now));
      await clock.tickAsync(next - clock.now);
    }
  };
  let moving = Promise.resolve();
  return {
    now: () => clock.now,
    setTimeout: (run, ms) => {
      const due = () => {
        dueMs.delete(timer);
        run();
      };
      const timer: Timer = clock.setTimeout(due, ms);
      // The clock takes whole milliseconds, and one at least for a timer that is set by another.
      dueMs.set(timer, clock.now + Math.max(1, Math.trunc(ms)));
      return timer;
    },
    clearTimeout: (timer) => {
      dueMs.delete(timer);
      clock.clearTimeout(timer as ReturnType<typeof clock.setTimeout>);
    },
    advance: (ms, settled = () => Promise.resolve()) => {
      moving = moving.catch(() => {}).then(() => step(clock.now + ms, settled));
      return moving;
    },
  };
}

export function isVirtualClock(clock: Clock): clock is VirtualClock {
  return "advance" in clock;
}

/** A clock that never stands still and can be made to run faster. */
export interface AcceleratedClock extends Clock {
  /** From now on it runs `speed` times as fast as the machine's. Timers that were set before keep their time. */
  setSpeed(speed: number): void;
  /** Moves it forward to the beginning of the next hour. Timers that were set before keep their time. */
  skipToNextHour(): void;
}

/**
 * A clock that starts now and runs `speed` times as fast as the machine's, so that an hour's window passes in seconds. Instants
 * are whole Unix milliseconds and never go back; a timer is as exact as the machine's, that is `speed` milliseconds on this clock.
 *
 * @throws {RangeError} where `speed` is not above 0
 */
export function acceleratedClock(speed: number): AcceleratedClock {
  const real = systemClock();
  let rate = checked(speed);
  let sinceMs = real.now();
  let since = performance.now();
  const exactNow = (): number => sinceMs + (performance.now() - since) * rate;
  const goOnFrom = (ms: number): void => {
    sinceMs = ms;
    since = performance.now();
  };
  return {
    now: () => Math.floor(exactNow()),
    setTimeout: (run, ms) => real.setTimeout(run, Math.ceil(ms / rate)),
    clearTimeout: (timer) => real.clearTimeout(timer),
    setSpeed: (wanted) => {
      const next = checked(wanted);
      goOnFrom(exactNow());
      rate = next;
    },
    skipToNextHour: () => goOnFrom((Math.floor(exactNow() / hourMs) + 1) * hourMs),
  };
}

function checked(speed: number): number {
  if (speed > 0 && Number.isFinite(speed)) return speed;
  throw new RangeError(`A clock cannot run ${speed} times as fast: the speed must be above 0.`);
}
