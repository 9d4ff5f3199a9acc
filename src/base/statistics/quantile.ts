/**
 * The value below which `share` of the values lie, by linear interpolation between the two nearest (type 7 of Hyndman and Fan, as of k6, R,
 * NumPy and spreadsheets): of 10, 20, 30, 40 the median is 25. `NaN` of none.
 *
 * @param share from 0, the least value, to 1, the largest
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted();
  const place = (sorted.length - 1) * share;
  const lower = sorted[Math.floor(place)] ?? Number.NaN;
  const upper = sorted[Math.ceil(place)] ?? Number.NaN;
  return lower === upper ? lower : lower + (upper - lower) * (place - Math.floor(place));
}

/** The middle value; halfway between the two middle ones where their number is even. `NaN` of none. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);
