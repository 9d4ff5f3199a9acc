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
  /** Moves the clock forward by `ms`; resolves when every timer that fell due has run. */
  advance(ms: number): Promise<void>;
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
  return {
    now: () => clock.now,
    setTimeout: (run, ms) => clock.setTimeout(run, ms),
    clearTimeout: (timer) => clock.clearTimeout(timer as ReturnType<typeof clock.setTimeout>),
    advance: async (ms) => void (await clock.tickAsync(ms)),
  };
}

export function isVirtual(clock: Clock): clock is VirtualClock {
  return "advance" in clock;
}
