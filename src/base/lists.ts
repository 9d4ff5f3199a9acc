/** Returns the numbers that `valueOf` gives for the items, in ascending order. */
export function sortedValues<T>(items: readonly T[], valueOf: (item: T) => number): Float64Array {
  const values = new Float64Array(items.length);
  let isSorted = true;
  for (let index = 0; index < items.length; index += 1) {
    const value = valueOf(items[index] as T);
    values[index] = value;
    // Most inputs are already sorted, and checking the order costs less than sorting.
    if (index > 0 && !((values[index - 1] ?? 0) <= value)) isSorted = false;
  }
  return isSorted ? values : values.toSorted();
}

export const countBelow = (sorted: Float64Array, bound: number): number => countWhile(sorted, (value) => value < bound);

export const countUpTo = (sorted: Float64Array, bound: number): number => countWhile(sorted, (value) => value <= bound);

/** Counts the values that pass a test, by binary search. These values must all be at the start of the list. */
function countWhile(sorted: Float64Array, passes: (value: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(sorted[middle] ?? Infinity)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the groups of items with the same key. Unlike with `Map.groupBy`, the type says that no group is empty. */
export const groupsBy = <T>(items: Iterable<T>, keyOf: (item: T) => unknown): [T, ...T[]][] =>
  [...Map.groupBy(items, keyOf).values()] as [T, ...T[]][];
