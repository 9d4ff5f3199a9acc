import type { AdmissionOptions, CountedSpan, Decision, History, Counted } from "./history.ts";
import { countBelow, countUpTo, sortedValues } from "../../../base/lists.ts";

/**
 * Earliest and latest possible times of the limiter's decisions. Each list is sorted by itself, so entry 3 of
 * `earliest` and entry 3 of `latest` can belong to different requests.
 */
export interface Instants {
  readonly earliest: Tally;
  readonly latest: Tally;
}

export interface TimedRefusal {
  readonly decision: Decision;
  readonly fromMs: number;
  readonly toMs: number;
  /** Maximum number of requests that the limiter can have counted before this refusal. */
  readonly countedBefore: number;
  /** Maximum number of refusals that are included in `countedBefore`. */
  readonly refusedBefore: number;
}

/**
 * A key's requests, with times on the limiter's clock. `counted` leaves out refused requests that cannot count toward
 * the limit.
 */
export interface AdmissionTimeline {
  readonly admitted: readonly CountedSpan[];
  /**
   * Subsets of the admitted requests: all of them, then only those with more and more exact times. Buckets and rolling
   * windows must explain each subset, because requests with inexact times can hide a burst.
   */
  readonly layers: readonly Instants[];
  readonly counted: Instants;
  readonly refusals: readonly TimedRefusal[];
  readonly startMs: number;
  readonly endMs: number;
  /**
   * Until this time, requests that this timeline does not contain can have used the key. `-Infinity`: the key was
   * unused before.
   */
  readonly unknownUseUntilMs: number;
}

export function timelineOf(
  history: History,
  options: AdmissionOptions,
  refusals: readonly Decision[],
  mayCount: ReadonlySet<Decision>,
): AdmissionTimeline {
  const tolerance = options.toleranceMs ?? 50;
  const from = (decision: Decision) => decision.decided.fromMs - tolerance;
  const to = (decision: Decision) => decision.decided.toMs + tolerance;
  const admitted = history.decisions
    .filter((decision) => decision.outcome === "admitted")
    .map((decision): CountedSpan => ({ fromMs: from(decision), toMs: to(decision), count: decision.count }))
    .toSorted((left, right) => left.fromMs - right.fromMs);
  const countable = history.decisions.filter((decision) => decision.outcome !== "refused" || mayCount.has(decision));
  const counted = { earliest: tallyOf(countable, from), latest: tallyOf(countable, to) };
  const sent = tallyOf(countable, (decision) => decision.inFlight.fromMs);
  const refused = tallyOf([...mayCount], from);
  const instants = history.decisions.flatMap((decision) => [from(decision), to(decision)]).filter(Number.isFinite);
  const firstDecidedByMs = history.decisions.reduce((min, decision) => Math.min(min, to(decision)), Infinity);
  return {
    admitted,
    layers: layersOf(admitted),
    counted,
    refusals: refusals.map((decision) => ({
      decision,
      fromMs: from(decision),
      toMs: to(decision),
      countedBefore:
        Math.min(requestsUpTo(counted.earliest, to(decision)), requestsUpTo(sent, decision.inFlight.toMs)) -
        (mayCount.has(decision) ? 1 : 0),
      refusedBefore: requestsUpTo(refused, to(decision)) - (mayCount.has(decision) ? 1 : 0),
    })),
    startMs: instants.reduce((min, instant) => Math.min(min, instant), Infinity),
    endMs: instants.reduce((max, instant) => Math.max(max, instant), -Infinity),
    unknownUseUntilMs: history.priorUse === "nothing" ? -Infinity : firstDecidedByMs,
  };
}

function layersOf(admitted: readonly CountedSpan[]): Instants[] {
  const layers: Instants[] = [];
  let kept = admitted;
  while (kept.length > 0) {
    layers.push({ earliest: tallyOf(kept, (one) => one.fromMs), latest: tallyOf(kept, (one) => one.toMs) });
    const widest = kept.reduce((max, one) => Math.max(max, one.toMs - one.fromMs), 0);
    const narrower = kept.filter((one) => one.toMs - one.fromMs < widest / 2);
    if (widest <= 1 || narrower.length === 0) break;
    kept = narrower;
  }
  return layers;
}

/** Times of requests: `values` in ascending order. Each time stands for one or more requests. */
export interface Tally {
  readonly values: Float64Array;
  /** `before[i]` is the number of requests before `values[i]`. One more element at the end counts all requests. */
  readonly before: Float64Array;
}

export function tallyOf<T extends Counted>(items: readonly T[], key: (item: T) => number): Tally {
  // If each item stands for one request, the values can be sorted as plain numbers, which is much faster.
  const ordered = items.every(({ count }) => count === 1)
    ? items
    : items.toSorted((one, other) => compareInstants(key(one), key(other)));
  const before = new Float64Array(items.length + 1);
  ordered.forEach(({ count }, index) => (before[index + 1] = (before[index] ?? 0) + count));
  return { values: sortedValues(ordered, key), before };
}

/** Compares two times. Does not subtract, because the difference of two infinite times is `NaN`. */
const compareInstants = (one: number, other: number): number => (one < other ? -1 : Number(one > other));

export const requestsBefore = ({ values, before }: Tally, bound: number): number =>
  before[countBelow(values, bound)] ?? 0;

export const requestsUpTo = ({ values, before }: Tally, bound: number): number => before[countUpTo(values, bound)] ?? 0;

export const requestsInFirstEntries = ({ before }: Tally, entries: number): number => before[entries] ?? 0;

/**
 * Returns a function that finds the index in `values` of the request with a given rank. The earliest request has rank
 * 0. Each search starts from the last index found, so ranks must not decrease between calls.
 */
export function createRankLookup({ before }: Tally): (rank: number) => number {
  let at = 0;
  return (rank) => {
    while ((before[at + 1] ?? Infinity) <= rank) at += 1;
    return at;
  };
}
