import { countBelow, countUpTo, sortedBy } from "../../../base/sorted.ts";
import type { Counted } from "./history.ts";

/** Instants in ascending order, and how many requests each of them stands for. */
export interface Tally {
  readonly values: Float64Array;
  /**
   * For each of `values`, the number of requests at earlier instants. One more entry at the end has the number of all
   * requests.
   */
  readonly before: Float64Array;
}

export function tallyOf<T extends Counted>(items: readonly T[], key: (item: T) => number): Tally {
  // If each item stands for one request, the values can be sorted as plain numbers, which is much faster.
  const ordered = items.every(({ count }) => count === 1)
    ? items
    : items.toSorted((one, other) => compareInstants(key(one), key(other)));
  const before = new Float64Array(items.length + 1);
  ordered.forEach(({ count }, index) => (before[index + 1] = (before[index] ?? 0) + count));
  return { values: sortedBy(ordered, key), before };
}

/** Compares without a subtraction, because the difference of two infinite instants is `NaN`. */
const compareInstants = (one: number, other: number): number => (one < other ? -1 : Number(one > other));

export const requestsBefore = ({ values, before }: Tally, bound: number): number =>
  before[countBelow(values, bound)] ?? 0;

/** Returns the number of requests at instants up to and including `bound`. */
export const requestsUpTo = ({ values, before }: Tally, bound: number): number => before[countUpTo(values, bound)] ?? 0;

/** Returns the number of requests for which the first `values` instants stand together. */
export const requestsInFirst = ({ before }: Tally, values: number): number => before[values] ?? 0;

/**
 * Returns a function that finds the index in `values` of the request with a given rank, counted from 0. The caller must
 * pass ranks in ascending order.
 */
export function createRankLookup({ before }: Tally): (rank: number) => number {
  let at = 0;
  return (rank) => {
    while ((before[at + 1] ?? Infinity) <= rank) at += 1;
    return at;
  };
}
