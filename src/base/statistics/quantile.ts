/**
 * The value below which `share` of the values lie, interpolated between the two nearest (type 7 of Hyndman and Fan, as in k6, R, NumPy and
 * spreadsheets): the median of 10, 20, 30, 40 is 25. `NaN` without values.
 *
 * @param share from 0, the smallest value, to 1, the largest
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted();
  const place = (sorted.length - 1) * share;
  const lower = sorted[Math.floor(place)] ?? Number.NaN;
  const upper = sorted[Math.ceil(place)] ?? Number.NaN;
  return lower === upper ? lower : lower + (upper - lower) * (place - Math.floor(place));
}

/** The middle value, or the mean of the two middle ones. `NaN` without values. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** How far `one` lies above `other`: the median of all differences between a value of each (Hodges and Lehmann). */
export const hodgesLehmannShift = (one: readonly number[], other: readonly number[]): number =>
  median(one.flatMap((value) => other.map((each) => value - each)));

/** The median absolute deviation and the distance between the quartiles of a normal distribution, in standard deviations. */
const madOfNormal = 0.6745;
const quartilesOfNormal = 1.349;

/**
 * How far values scatter around their median, as a standard deviation that a few outliers do not change. It is the larger of two estimates, from
 * the median absolute deviation (MAD) and from the quartiles: with few values, either can come out far too small by chance.
 */
export function robustDeviation(values: readonly number[]): number {
  const middle = median(values);
  const mad = median(values.map((value) => Math.abs(value - middle)));
  return Math.max(mad / madOfNormal, (quantile(values, 0.75) - quantile(values, 0.25)) / quartilesOfNormal);
}
