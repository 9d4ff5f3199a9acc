import { duration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import { readRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { machineTimers, type Timers } from "../../run/time/run-clock.ts";
import type { ClockControl, Target, TargetKey } from "../../target/target.ts";
import { askHealth } from "./ask-health.ts";

/** How long a test clock is observed before it counts as standing still. Headers show only whole seconds, which may be rounded. */
const observedMs = 3000;
/**
 * How far a test clock is then advanced. If a time in the headers follows the advance, it comes from the test clock;
 * otherwise it is a constant.
 */
const testAdvanceMs = 5000;
/** A time in the headers counts as changed if it differs by at least this many seconds. */
const minChangeSeconds = 0.5;

/** Times that a target's headers show, in seconds; `null` if their headers are absent. */
export interface ShownTimes {
  /** The target's time according to the rate-limit headers: `Reset` minus `Reset-After`. */
  readonly limits: number | null;
  readonly date: number | null;
}

interface Observation {
  readonly clock: ClockControl;
  readonly read: () => Promise<ShownTimes>;
  readonly timers?: Timers;
}

/**
 * Whether a test clock stands still until it is advanced: a time in the headers does not change in 3 s of real time, but follows an
 * advance. Advances a clock that seems to stand still.
 */
export async function standsStill({ clock, read, timers = machineTimers }: Observation): Promise<boolean> {
  const pause = (ms: number): Promise<void> => timers.sleep(ms, AbortSignal.any([]));
  const first = await read();
  await pause(observedMs);
  const later = await read();
  const names = (["limits", "date"] as const).filter((name) => hasChanged(first[name], later[name]) === false);
  if (names.length === 0) return false;
  await clock.advance(testAdvanceMs);
  await pause(clock.settleMs);
  const advanced = await read();
  return names.some((name) => hasChanged(later[name], advanced[name]) === true);
}

function hasChanged(from: number | null, to: number | null): boolean | null {
  return from === null || to === null ? null : Math.abs(to - from) >= minChangeSeconds;
}

/** Returns a function that reads the times from the headers of a health response. */
export const readTimes =
  (target: Target, key: TargetKey): Observation["read"] =>
  async () => {
    const { answer } = await askHealth(target, key);
    if (answer.kind === "unanswered") return { limits: null, date: null };
    const { reset, resetAfter, date } = readRateLimitInfo(answer.status, answer.headers, () => null);
    return { limits: reset === null || resetAfter === null ? null : reset - resetAfter, date };
  };

/** How often a standing clock is advanced. */
const stepMs = 100;
/** How far the clock may lag behind real time. The checks of limits allow for a lag of up to this. */
const maxLagMs = 10_000;

/** A test clock that stands still by itself, and is advanced to follow real time until it is stopped. */
export interface ClockInStep {
  /** How far the clock lagged behind real time at most, in milliseconds. */
  readonly lagMs: () => number;
  /** Returns why the clock did not follow real time. `null` if it did. */
  readonly problem: () => string | null;
  /** Stops advancing the clock, and waits for an advance that is under way. */
  readonly stop: () => Promise<void>;
}

/** Advances a clock that stands still, every 100 ms, by the real time that has passed since the last advance. */
export function keepInStep(clock: ClockControl, timers: Timers = machineTimers): ClockInStep {
  const startedMs = timers.now();
  const end = new AbortController();
  let advancedMs = 0;
  let maxMs = 0;
  let failure: string | null = null;
  const currentLagMs = (): number => timers.now() - startedMs - advancedMs;
  const step = async (): Promise<void> => {
    const ms = Math.round(currentLagMs());
    try {
      await clock.advance(ms);
      maxMs = Math.max(maxMs, currentLagMs());
      advancedMs += ms;
    } catch (error) {
      failure ??= messageOf(error);
    }
  };
  const run = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await step();
      await timers.sleep(stepMs, end.signal).catch(() => {});
    }
  };
  const running = run();
  const lagMs = (): number => Math.max(maxMs, currentLagMs());
  return {
    lagMs,
    problem: () => {
      const worstMs = lagMs();
      if (worstMs <= maxLagMs) return null;
      const cause = failure === null ? "" : ` (${failure})`;
      return `the target's test clock lagged behind by ${duration(Math.round(worstMs))}, though it was moved along with real time${cause}`;
    },
    stop: async () => {
      end.abort();
      await running;
    },
  };
}
