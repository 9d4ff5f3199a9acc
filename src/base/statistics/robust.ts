/** The middle value; the mean of the two middle ones where their number is even. `NaN` of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** A value below which `share` of the values lie, between two of them where it has to be. `NaN` of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const lower = sorted[Math.floor(place)] ?? Number.NaN;
  const upper = sorted[Math.ceil(place)] ?? Number.NaN;
  return lower + (upper - lower) * (place - Math.floor(place));
}

/** By how much `one` lies above `other`: the median of all differences between a value of each (Hodges and Lehmann). */
export const shiftOf = (one: readonly number[], other: readonly number[]): number =>
  median(one.flatMap((value) => other.map((each) => value - each)));

/** Of a normal distribution: the median absolute deviation, and the distance between the quartiles, in standard deviations. */
const madOfNormal = 0.6745;
const quartilesOfNormal = 1.349;

/**
 * How far values scatter around their median, as a standard deviation that a few outliers do not move: from the median absolute deviation
 * (MAD) or from the quartiles, whichever says more, because either of few values can come out far too small by chance.
 */
export function scatterOf(values: readonly number[]): number {
  const middle = median(values);
  const mad = median(values.map((value) => Math.abs(value - middle)));
  return Math.max(mad / madOfNormal, (quantile(values, 0.75) - quantile(values, 0.25)) / quartilesOfNormal);
}
