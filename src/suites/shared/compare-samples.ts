import type { Elapsed } from "../../rules/limits/exhausted-window.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";

/** Whether two responses describe the same window: their limits and their times of reset are equal. */
export const isSameWindow = (a: Sample, b: Sample): boolean =>
  a.limit !== null && a.limit === b.limit && a.reset !== null && b.reset !== null && Math.abs(a.reset - b.reset) <= 2;

/**
 * Whether two responses describe the same token bucket. In a bucket, each counted request delays the reset by the
 * refill time of one request.
 */
function isSameBucket(from: Sample, to: Sample): boolean {
  if (from.limit === null || from.limit !== to.limit || from.reset === null || to.reset === null) return false;
  const fell = (from.remaining ?? 0) - (to.remaining ?? 0);
  const resetDifference = to.reset - from.reset;
  return fell > 0 && [60, 3600].some((span) => Math.abs(resetDifference - (fell * span) / (from.limit ?? 1)) <= 2);
}

const isSameAllowance = (from: Sample, to: Sample): boolean => isSameWindow(from, to) || isSameBucket(from, to);

/** Maximum number of seconds between two exchanges. The target's clock may also run between the run's advances. */
const secondsBetween = (from: Sample, to: Sample): number =>
  (to.headMs - from.sentMs + (to.headClockMs - from.sentClockMs)) / 1000;

/** Bounds of the target's time between two responses. With `hasClock`, the target's clock may stand still unless the run advances it. */
export function elapsedSeconds(from: Sample, to: Sample, hasClock: boolean): Elapsed {
  const offsetMs = to.sentClockMs - from.headClockMs;
  return {
    min: (hasClock ? offsetMs : to.sentMs - from.headMs) / 1000,
    max: (to.headClockMs - from.sentClockMs + to.headMs - from.sentMs) / 1000,
  };
}

/** How far `Remaining` fell from one response to a later one. */
export interface Fall {
  readonly fell: number;
  /** Number of requests that a refilling or rolling window may have given back in between. */
  readonly mayRegain: number;
}

export function fallBetween(from: Sample, to: Sample): Fall | null {
  if (!isSameAllowance(from, to) || from.remaining === null || to.remaining === null) return null;
  // Values outside the range from 0 to the limit break another clause, and prove nothing here.
  if ([from.remaining, to.remaining].some((value) => value < 0 || value > (from.limit ?? 0))) return null;
  // No admissible limiter refills faster than its whole limit in a minute.
  const mayRegain = 1 + Math.ceil(((from.limit ?? 0) / 60) * secondsBetween(from, to));
  return { fell: from.remaining - to.remaining, mayRegain };
}

/** A sample, and whether it overlaps the requests before and after it. */
interface PlacedSample {
  readonly sample: Sample;
  /** Whether all earlier requests had ended when this one was sent. */
  readonly isAfterAll: boolean;
  /** Whether this request had ended when the next one was sent. */
  readonly isBeforeNext: boolean;
}

/** Sorts samples of one key by the time of sending, and says which of them overlap others. */
export function inOrder(samples: readonly Sample[]): readonly PlacedSample[] {
  const sorted = samples.toSorted((a, b) => a.sentMs - b.sentMs);
  let lastEndMs = -Infinity;
  return sorted.map((sample, index) => {
    const isAfterAll = sample.sentMs >= lastEndMs;
    lastEndMs = Math.max(lastEndMs, sample.endMs);
    return { sample, isAfterAll, isBeforeNext: (sorted[index + 1]?.sentMs ?? Infinity) >= sample.endMs };
  });
}

/** Consecutive invokes on one key within one window, with no other request in between. */
export type SerialRun = readonly Sample[];

const closeSeconds = 1;

/**
 * Finds the serial runs among the samples of one key.
 * @param between whether a request that may count was sent between two times.
 * @param countedRead the kind of read that counts against the allowance, as an invoke does
 */
export function serialRuns(
  samples: readonly Sample[],
  between: (fromMs: number, toMs: number) => boolean,
  countedRead: Sample["kind"] | null = null,
): SerialRun[] {
  const counts = ({ kind }: Sample): boolean => kind === "invoke" || kind === countedRead;
  const runs: Sample[][] = [];
  inOrder(samples).forEach(({ sample, isAfterAll, isBeforeNext }, index, sorted) => {
    const previous = sorted[index - 1]?.sample;
    if (!isAfterAll || !isBeforeNext || !counts(sample) || !isAdmitted(sample)) return;
    const run = runs.at(-1);
    const first = run?.[0];
    const follows = previous !== undefined && run?.at(-1) === previous && first !== undefined;
    const isNear = follows && secondsBetween(previous, sample) <= closeSeconds && isSameAllowance(first, sample);
    if (run !== undefined && isNear && !between(previous.sentMs, sample.sentMs)) run.push(sample);
    else runs.push([sample]);
  });
  return runs.filter(({ length }) => length > 1);
}
