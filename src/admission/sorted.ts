/** Questions to sorted arrays of numbers, each answered in logarithmic time. */

export function sortedBy<T>(items: readonly T[], key: (item: T) => number): Float64Array {
  return Float64Array.from(items, key).toSorted();
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
