/** Questions to samples of numbers that a few wild values must not sway. */

const ascending = (values: readonly number[]): Float64Array => Float64Array.from(values).toSorted();

/** The value below which `share` of the values lie; `NaN` where there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = ascending(values);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/**
 * The chance that the second sample lies as far above the first as it does, or farther, if both come from one population: Wilcoxon's rank
 * sum with mean ranks for ties, by its normal approximation (8 values each at least).
 */
export function chanceOfHigher(first: readonly number[], second: readonly number[]): number {
  const all = [...first.map((value) => ({ value, of: 0 })), ...second.map((value) => ({ value, of: 1 }))];
  all.sort((a, b) => a.value - b.value);
  let sum = 0;
  let ties = 0;
  for (let from = 0; from < all.length;) {
    let end = from;
    while (end < all.length && all[end]?.value === all[from]?.value) end += 1;
    const rank = (from + 1 + end) / 2;
    sum += rank * all.slice(from, end).filter(({ of }) => of === 1).length;
    ties += (end - from) ** 3 - (end - from);
    from = end;
  }
  const [n, m] = [first.length, second.length];
  const total = n + m;
  const variance = ((n * m) / 12) * (total + 1 - ties / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  return upperTail((sum - (m * (total + 1)) / 2 - 0.5) / Math.sqrt(variance));
}

/** The share of a normal distribution above `z` (Abramowitz and Stegun 26.2.17, good to 1e-7). */
function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z);
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (series * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

/** How a series of values at even intervals moves. */
export interface Trend {
  /** Median of the slopes between all pairs (Theil and Sen), a step. */
  readonly slope: number;
  /** The chance of so many rising pairs where nothing rises (Mann and Kendall). */
  readonly chance: number;
}

export function trendOf(values: readonly number[]): Trend {
  const slopes: number[] = [];
  let rising = 0;
  values.forEach((from, index) => {
    for (let to = index + 1; to < values.length; to += 1) {
      const difference = (values[to] ?? from) - from;
      slopes.push(difference / (to - index));
      rising += Math.sign(difference);
    }
  });
  const n = values.length;
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const chance = deviation === 0 ? 1 : upperTail((rising - Math.sign(rising)) / deviation);
  return { slope: slopes.length === 0 ? 0 : median(slopes), chance };
}
