import { formatDuration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import { readRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { machineTimers, type Timers } from "../../run/time/run-clock.ts";
import type { ClockControl, Target, TargetKey } from "../../target/target.ts";
import { askHealth } from "./ask-health.ts";

/** How long a test clock is observed before it counts as standing still. It has to be seconds, because headers show rounded seconds. */
const observationMs = 3000;
/**
 * How far a test clock is advanced for this test. A time in the headers that does not follow comes from another clock, or is a constant.
 */
const testAdvanceMs = 5000;
/** A time in the headers counts as changed from this difference on. */
const minChangeSeconds = 0.5;

/** The times that a response's headers show, in seconds. A time is `null` if its headers are absent. */
export interface ShownTimes {
  /** The target's time by the rate-limit headers: `X-RateLimit-Reset` minus `X-RateLimit-Reset-After`. */
  readonly limits: number | null;
  readonly date: number | null;
}

interface Observation {
  readonly clock: ClockControl;
  readonly read: () => Promise<ShownTimes>;
  readonly timers?: Timers;
}

/**
 * Whether a test clock moves only when it is advanced. A time in the headers must stay the same for 3 s of real time, and then follow an
 * advance.
 */
export async function isStandingClock({ clock, read, timers = machineTimers }: Observation): Promise<boolean> {
  const pause = (ms: number): Promise<void> => timers.sleep(ms, AbortSignal.any([]));
  const first = await read();
  await pause(observationMs);
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

/** Returns a function that reads both times from the headers of a health response. */
export const readTimes =
  (target: Target, key: TargetKey): Observation["read"] =>
  async () => {
    const { answer } = await askHealth(target, key);
    if (answer.kind === "unanswered") return { limits: null, date: null };
    const { reset, resetAfter, date } = readRateLimitInfo(answer.status, answer.headers, () => null);
    return { limits: reset === null || resetAfter === null ? null : reset - resetAfter, date };
  };

/** Interval between two advances of a standing clock. */
const advanceIntervalMs = 100;
/** Maximum lag of the clock behind real time. The checks of limits allow for this lag. */
const maxLagMs = 10_000;

/** A test clock that would stand still, but is advanced along with real time until `stop`. */
export interface ClockInStep {
  /** The largest lag behind real time so far, in milliseconds. */
  readonly lagMs: () => number;
  /** Why the clock did not keep up with real time; `null` if it did. */
  readonly problem: () => string | null;
  /** Waits for an advance that is under way, and advances the clock no more. */
  readonly stop: () => Promise<void>;
}

/** Keeps a standing test clock in step with real time: every 100 ms, advances it by the real time since the last advance. */
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
      await timers.sleep(advanceIntervalMs, end.signal).catch(() => {});
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
      return `the target's test clock lagged behind by ${formatDuration(Math.round(worstMs))}, though it was moved along with real time${cause}`;
    },
    stop: async () => {
      end.abort();
      await running;
    },
  };
}
