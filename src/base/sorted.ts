/** Questions to sorted arrays of numbers, each answered in logarithmic time. */

export function sortedBy<T>(items: readonly T[], key: (item: T) => number): Float64Array {
  const values = new Float64Array(items.length);
  let isSorted = true;
  for (let index = 0; index < items.length; index += 1) {
    const value = key(items[index] as T);
    values[index] = value;
    // Mostly the items come in order already, and to see that costs less than to sort a million.
    if (index > 0 && !((values[index - 1] ?? 0) <= value)) isSorted = false;
  }
  return isSorted ? values : values.toSorted();
}

/** How many values are below `bound`. */
export function countBelow(sorted: Float64Array, bound: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? Infinity) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many values are at most `bound`. */
export function countUpTo(sorted: Float64Array, bound: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? Infinity) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
