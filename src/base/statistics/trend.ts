import { upperTail } from "./normal.ts";
import { median } from "./quantile.ts";

/** The trend of a series of values at even intervals. */
export interface Trend {
  /** Median of the slopes between all pairs (Theil and Sen), per step. */
  readonly slope: number;
  /** The chance of at least this many rising pairs if nothing rises (Mann and Kendall). */
  readonly pValue: number;
}

/** Computes the trend of values in their order. The chance is by normal approximation. */
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
  const pValue = deviation === 0 ? 1 : upperTail((rising - Math.sign(rising)) / deviation);
  return { slope: slopes.length === 0 ? 0 : median(slopes), pValue };
}
