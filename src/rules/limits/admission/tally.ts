import { countBelow, countUpTo, sortedBy } from "../../../base/sorted.ts";
import type { Counted } from "./history.ts";

/** Instants in order, each of which stands for one request or for many. */
export interface Tally {
  readonly values: Float64Array;
  /** For each of `values`, how many requests those before it stand for; at the end, one more: how many all of them do. */
  readonly before: Float64Array;
}

export function tallyOf<T extends Counted>(items: readonly T[], key: (item: T) => number): Tally {
  // Where each stands for one, numbers alone are sorted, which is much the faster.
  const ordered = items.every(({ count }) => count === 1)
    ? items
    : items.toSorted((one, other) => compared(key(one), key(other)));
  const before = new Float64Array(items.length + 1);
  ordered.forEach(({ count }, index) => (before[index + 1] = (before[index] ?? 0) + count));
  return { values: sortedBy(ordered, key), before };
}

/** The difference of two instants would not do: there is none between two that lie infinitely far. */
const compared = (one: number, other: number): number => (one < other ? -1 : Number(one > other));

/** How many requests lie below `bound`. */
export const below = ({ values, before }: Tally, bound: number): number => before[countBelow(values, bound)] ?? 0;

/** How many requests lie at `bound` or below. */
export const upTo = ({ values, before }: Tally, bound: number): number => before[countUpTo(values, bound)] ?? 0;

/** How many requests the first so many of `values` stand for. */
export const inFirst = ({ before }: Tally, values: number): number => before[values] ?? 0;

/** Tells which of `values` is that of the request with a rank, counted from 0. Ranks must be asked for in order. */
export function walkAlong({ before }: Tally): (rank: number) => number {
  let at = 0;
  return (rank) => {
    while ((before[at + 1] ?? Infinity) <= rank) at += 1;
    return at;
  };
}
