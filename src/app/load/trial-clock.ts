import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { formatDuration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import { readRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { machineTimers, type Timers } from "../../run/time/run-clock.ts";
import type { ClockControl, Target, TargetKey } from "../../target/target.ts";
import { harnessLimitOf } from "../../base/harness-limit.ts";
import { TargetDied } from "../../load/target-watch.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { agentPath } from "../../run/send/client.ts";
import { openTransport } from "../../wire/transport.ts";

/** Time to watch whether a test clock moves by itself: several seconds, because headers show only whole seconds. */
const observationMs = 3000;
/** Length of the advance that tests whether the times in response headers follow the test clock. */
const testAdvanceMs = 5000;
/** Minimum difference between two server times that counts as a movement of the server's clock. */
const minChangeSeconds = 0.5;

/** The server's time, in Unix seconds, as the headers of a response show it. `null`: no such header, or no response. */
export interface ServerTimes {
  /** The time by the rate-limit headers: `X-RateLimit-Reset` minus `X-RateLimit-Reset-After`. */
  readonly limits: number | null;
  /** The time by the `Date` header. */
  readonly date: number | null;
}

interface ClockTest {
  readonly clock: ClockControl;
  readonly read: () => Promise<ServerTimes>;
  readonly timers?: Timers;
}

/** Tests whether a time in the headers stands still for 3 s, and then follows an advance of the test clock by 5 s. */
export async function testIfClockStandsStill({ clock, read, timers = machineTimers }: ClockTest): Promise<boolean> {
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

/** Returns a function that sends a health request and reads the server's time from the response's headers. */
export const serverTimeReader =
  (target: Target, key: TargetKey): ClockTest["read"] =>
  async () => {
    const { answer } = await requestHealth(target, key);
    if (answer.kind === "unanswered") return { limits: null, date: null };
    const { reset, resetAfter, date } = readRateLimitInfo(answer.status, answer.headers, () => null);
    return { limits: reset === null || resetAfter === null ? null : reset - resetAfter, date };
  };

const advanceIntervalMs = 100;
/** Maximum lag of a test clock behind real time. Checks of limits allow for the lag; a larger lag counts as a disturbance. */
const maxLagMs = 10_000;

export type FollowingClock = ReturnType<typeof followRealTime>;

/** Makes a test clock follow real time by advancing it every 100 ms. */
export function followRealTime(clock: ClockControl, timers: Timers = machineTimers) {
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
    problem: (): string | null => {
      const worstMs = lagMs();
      if (worstMs <= maxLagMs) return null;
      const cause = failure === null ? "" : ` (${failure})`;
      return `the target's test clock lagged behind by ${formatDuration(Math.round(worstMs))}, though it was moved along with real time${cause}`;
    },
    stop: async (): Promise<void> => {
      end.abort();
      await running;
    },
  };
}

/** Time for which a failed advance is retried. A target can be unavailable for some seconds during a deployment. */
const retryForMs = 8000;
const retryPauseMs = 1000;

/** Returns a clock that retries an advance after a temporary failure. Use only between trials: it may advance twice. */
export const withRetriedAdvance = (clock: ClockControl, timers: Timers = machineTimers): ClockControl => ({
  ...clock,
  advance: async (ms) => {
    for (const untilMs = timers.now() + retryForMs; ; await timers.sleep(retryPauseMs, AbortSignal.any([]))) {
      try {
        return await clock.advance(ms);
      } catch (error) {
        if (!(error instanceof ControlCallFailed) || harnessLimitOf(error) !== null) throw error;
        if (!error.isTemporary || timers.now() >= untilMs) throw new TargetDied(error.message);
      }
    }
  },
});

/** Sends a health request for the answering agent, to read the rate-limit headers. No limit counts health requests. */
export async function requestHealth({ baseUrl, network, agents }: Target, { key, name }: TargetKey): Promise<Exchange> {
  const wire = openTransport({ now: () => performance.now(), clockOffsetMs: () => 0, network });
  try {
    return await wire.open({
      method: "GET",
      url: baseUrl + agentPath(agents.answering ?? "", "health"),
      headers: [
        ["authorization", `Bearer ${key}`],
        ["accept", "application/json"],
      ],
      body: null,
      key: name,
    }).finished;
  } finally {
    await wire.close();
  }
}

/**
 * Returns the functions with which load trials control a test clock. `beginMinute` starts a new minute window.
 * `keepInStep` makes the clock follow real time, or returns `null` if no header shows that the clock stands still.
 */
export function controlTrialClock(target: Target, clock: ClockControl) {
  const betweenTrials = withRetriedAdvance(clock);
  let standsStill: Promise<boolean> | null = null;
  return {
    betweenTrials,
    beginMinute: () => betweenTrials.advance(minuteOverMs),
    keepInStep: async (main: TargetKey): Promise<FollowingClock | null> => {
      standsStill ??= testIfClockStandsStill({ clock: betweenTrials, read: serverTimeReader(target, main) });
      return (await standsStill) ? followRealTime(clock) : null;
    },
  };
}
