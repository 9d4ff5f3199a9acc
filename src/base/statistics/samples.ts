import { getOrAdd } from "../memoize.ts";

/**
 * Maximum total number of values for which {@link rankSumPValue} computes an exact p-value. For more values, a normal
 * approximation is accurate enough.
 */
const maxExactValues = 64;

/** Returns the p-value of the one-sided Mann-Whitney test that `one` ranks above `other`; 1 if a list is empty. */
export function rankSumPValue(one: readonly number[], other: readonly number[]): number {
  if (one.length === 0 || other.length === 0) return 1;
  const { ranks, ties } = doubledRanks([...one, ...other]);
  const observed = ranks.slice(0, one.length).reduce((sum, rank) => sum + rank, 0);
  if (ranks.length > maxExactValues) return approximateTail(observed / 2, one.length, other.length, ties);
  return upperShare(ties > 0 ? countWays(ranks, one.length) : untiedWays(ranks.length, one.length), observed);
}

interface Ranks {
  /** Twice the rank of each value. Equal values get the mean of their ranks, such as 2.5; doubled, it is whole. */
  readonly ranks: readonly number[];
  /** Sum of n³ − n over all groups of n equal values, for the variance of the rank sum. */
  readonly ties: number;
}

export function doubledRanks(values: readonly number[]): Ranks {
  const first = new Map<number, number>();
  const counts = new Map<number, number>();
  for (const [at, value] of Float64Array.from(values).toSorted().entries()) {
    if (!first.has(value)) first.set(value, at + 1);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const ranks = values.map((value) => 2 * (first.get(value) ?? 0) + (counts.get(value) ?? 1) - 1);
  return { ranks, ties: counts.values().reduce((sum, count) => sum + count ** 3 - count, 0) };
}

/** Approximates the probability that `n` of `n + m` values have a rank sum of at least `sum`. */
function approximateTail(sum: number, n: number, m: number, ties: number): number {
  const all = n + m;
  const variance = ((n * m) / 12) * (all + 1 - ties / (all * (all - 1)));
  return variance > 0 ? normalUpperTail((sum - (n * (all + 1)) / 2 - 0.5) / Math.sqrt(variance)) : 1;
}

/**
 * Counts the ways to choose `chosen` of the ranks, for each possible sum. For example, item 10 of the result counts the
 * choices with sum 10.
 */
function countWays(ranks: readonly number[], chosen: number): Float64Array {
  const largest = ranks
    .toSorted((a, b) => b - a)
    .slice(0, chosen)
    .reduce((sum, rank) => sum + rank, 0);
  const ways = Array.from({ length: chosen + 1 }, () => new Float64Array(largest + 1));
  const none = ways[0];
  if (none !== undefined) none[0] = 1;
  for (const rank of ranks)
    for (let taken = chosen; taken >= 1; taken -= 1) addShifted(ways[taken], ways[taken - 1], rank);
  return ways[chosen] ?? new Float64Array();
}

function addShifted(to: Float64Array | undefined, from: Float64Array | undefined, by: number): void {
  if (to === undefined || from === undefined) return;
  for (let sum = to.length - 1; sum >= by; sum -= 1) to[sum] = (to[sum] ?? 0) + (from[sum - by] ?? 0);
}

/**
 * Caches the results of {@link countWays} for values without ties. The doubled ranks of these values are always 2, 4,
 * …, 2n.
 */
const untiedWaysCache = new Map<string, Float64Array>();

function untiedWays(all: number, chosen: number): Float64Array {
  return getOrAdd(untiedWaysCache, `${all} ${chosen}`, () => {
    const ranks = Array.from({ length: all }, (_, at) => 2 * (at + 1));
    return countWays(ranks, chosen);
  });
}

function upperShare(ways: Float64Array, from: number): number {
  let all = 0;
  let tail = 0;
  for (const [sum, count] of ways.entries()) {
    all += count;
    if (sum >= from) tail += count;
  }
  return tail / all;
}

/** Returns the probability that a standard normal value exceeds `z` (Abramowitz and Stegun 26.2.17). */
export function normalUpperTail(z: number): number {
  if (z < 0) return 1 - normalUpperTail(-z);
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (series * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

/**
 * Decides which tests are significant, by the method of Holm (1979). The risk of at least one false positive is at most
 * `maxRisk`.
 * @param testCount number of all tests, including tests whose p-values are not in `pValues`
 */
export function significantByHolm(pValues: readonly number[], maxRisk: number, testCount = pValues.length): boolean[] {
  const order = pValues.map((pValue, at) => ({ pValue, at })).toSorted((a, b) => a.pValue - b.pValue);
  const isSignificant = pValues.map(() => false);
  for (const [place, { pValue, at }] of order.entries()) {
    if (pValue > maxRisk / (testCount - place)) break;
    isSignificant[at] = true;
  }
  return isSignificant;
}

/** Returns the quantile at a share, such as 0.5; `NaN` without values. Uses type 7 of Hyndman and Fan. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted();
  const place = (sorted.length - 1) * share;
  const lower = sorted[Math.floor(place)] ?? Number.NaN;
  const upper = sorted[Math.ceil(place)] ?? Number.NaN;
  return lower === upper ? lower : lower + (upper - lower) * (place - Math.floor(place));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Estimates how much larger the values of `one` are than those of `other`: the Hodges-Lehmann estimator. */
export const hodgesLehmannShift = (one: readonly number[], other: readonly number[]): number =>
  median(one.flatMap((value) => other.map((each) => value - each)));

/** Median absolute deviation of the standard normal distribution. */
const madOfNormal = 0.6745;
/** Interquartile range of the standard normal distribution. */
const quartilesOfNormal = 1.349;

/** Estimates the standard deviation, almost unaffected by outliers: the larger of two robust estimates. */
export function robustDeviation(values: readonly number[]): number {
  const middle = median(values);
  const mad = median(values.map((value) => Math.abs(value - middle)));
  return Math.max(mad / madOfNormal, (quantile(values, 0.75) - quantile(values, 0.25)) / quartilesOfNormal);
}
