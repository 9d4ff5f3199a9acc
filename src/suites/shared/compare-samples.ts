import type { Elapsed } from "../../rules/limits/exhausted-window.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";

/** Whether two responses report the same limit, with resets at most 2 seconds apart. */
export const isSameWindow = (a: Sample, b: Sample): boolean =>
  a.limit !== null && a.limit === b.limit && a.reset !== null && b.reset !== null && Math.abs(a.reset - b.reset) <= 2;

/** Whether two responses show the same token bucket. Each request raises `Reset` by the refill time of one token. */
function isSameBucket(from: Sample, to: Sample): boolean {
  if (from.limit === null || from.limit !== to.limit || from.reset === null || to.reset === null) return false;
  const fell = (from.remaining ?? 0) - (to.remaining ?? 0);
  const resetDifference = to.reset - from.reset;
  return fell > 0 && [60, 3600].some((span) => Math.abs(resetDifference - (fell * span) / (from.limit ?? 1)) <= 2);
}

const isSameAllowance = (from: Sample, to: Sample): boolean => isSameWindow(from, to) || isSameBucket(from, to);

const secondsBetween = (from: Sample, to: Sample): number =>
  (to.headMs - from.sentMs + (to.headClockMs - from.sentClockMs)) / 1000;

export function elapsedSeconds(from: Sample, to: Sample, hasClock: boolean): Elapsed {
  const offsetMs = to.sentClockMs - from.headClockMs;
  return {
    min: (hasClock ? offsetMs : to.sentMs - from.headMs) / 1000,
    max: (to.headClockMs - from.sentClockMs + to.headMs - from.sentMs) / 1000,
  };
}

export function fallBetween(from: Sample, to: Sample) {
  if (!isSameAllowance(from, to) || from.remaining === null || to.remaining === null) return null;
  // Another clause judges a `Remaining` below 0 or above the limit.
  if ([from.remaining, to.remaining].some((value) => value < 0 || value > (from.limit ?? 0))) return null;
  // A token bucket regains at most `limit` tokens a minute, so `Remaining` can rise between the two responses. The 1
  // allows for rounding.
  const mayRegain = 1 + Math.ceil(((from.limit ?? 0) / 60) * secondsBetween(from, to));
  return { fell: from.remaining - to.remaining, mayRegain };
}

/** Requests that are not judged, but possibly lowered `Remaining`. */
export interface OtherRequests {
  /** Times of requests without a key or with an unknown key, in ms since the start of the run. */
  readonly keylessMs: readonly number[];
  /** Requests, with any key, of probes that were added after the requirement set that is judged. */
  readonly later?: readonly Sample[];
}

/** Whether a request that is not judged could have lowered `Remaining` between two judged requests. */
export const mayOthersCountBetween = ({ keylessMs, later = [] }: OtherRequests, from: Sample, to: Sample): boolean =>
  keylessMs.some((ms) => ms >= from.sentMs && ms <= to.endMs) ||
  later.some(({ sentMs, endMs }) => endMs >= from.sentMs && sentMs <= to.endMs);

export function sortAndMarkOverlaps(samples: readonly Sample[]) {
  const sorted = samples.toSorted((a, b) => a.sentMs - b.sentMs);
  let lastEndMs = -Infinity;
  return sorted.map((sample, index) => {
    const isAfterAll = sample.sentMs >= lastEndMs;
    lastEndMs = Math.max(lastEndMs, sample.endMs);
    return { sample, isAfterAll, isBeforeNext: (sorted[index + 1]?.sentMs ?? Infinity) >= sample.endMs };
  });
}

/** Consecutive admitted requests of one key, none in parallel, counted in the same window or token bucket. */
export type SerialRun = readonly Sample[];

const maxGapSeconds = 1;

export function findSerialRuns(
  samples: readonly Sample[],
  others: OtherRequests,
  countedRead: Sample["kind"] | null = null,
): SerialRun[] {
  const counts = ({ kind }: Sample): boolean => kind === "invoke" || kind === countedRead;
  const runs: Sample[][] = [];
  sortAndMarkOverlaps(samples).forEach(({ sample, isAfterAll, isBeforeNext }, index, sorted) => {
    const previous = sorted[index - 1]?.sample;
    if (!isAfterAll || !isBeforeNext || !counts(sample) || !isAdmitted(sample)) return;
    const run = runs.at(-1);
    const first = run?.[0];
    const follows = previous !== undefined && run?.at(-1) === previous && first !== undefined;
    const continuesRun = follows && secondsBetween(previous, sample) <= maxGapSeconds && isSameAllowance(first, sample);
    if (run !== undefined && continuesRun && !mayOthersCountBetween(others, previous, sample)) run.push(sample);
    else runs.push([sample]);
  });
  return runs.filter(({ length }) => length > 1);
}
