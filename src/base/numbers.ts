import { once } from "./memoize.ts";

export function rounded(value: number, digits: number): number {
  const power = 10 ** digits;
  return Math.round(value * power) / power;
}

/** Created on first use, because V8 takes 20 ms to load the locale data. */
const englishNumbers = once(() => new Intl.NumberFormat("en"));

export const sumOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);

/** Returns `part` as a percentage of `total`. Rounds down, so that 99.9 % never appears as 100 %. */
export const wholePercent = (part: number, total: number): number => Math.floor((100 * part) / Math.max(1, total));

/** Formats a number with a comma at each thousand, and at most three decimals: `4,213`. */
export const formatNumber = (value: number): string =>
  Number.isSafeInteger(value) ? String(value).replace(thousands, ",") : englishNumbers().format(value);

const thousands = /\B(?=(?:\d{3})+$)/g;
