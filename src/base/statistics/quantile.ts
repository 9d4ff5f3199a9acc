/** Returns the quantile of the values at `share`, by type 7 of Hyndman and Fan; `NaN` without values. */
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
