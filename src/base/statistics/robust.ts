import { median, quantile } from "./quantile.ts";

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
