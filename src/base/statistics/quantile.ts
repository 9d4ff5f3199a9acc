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
