import { createClock } from "@sinonjs/fake-timers";

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
export function realClock(): Clock {
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

export function isVirtual(clock: Clock): clock is VirtualClock {
  return "advance" in clock;
}
