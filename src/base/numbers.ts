import { once } from "./memoize.ts";

/** Rounds to at most `digits` digits after the point. */
export function rounded(value: number, digits: number): number {
  const power = 10 ** digits;
  return Math.round(value * power) / power;
}

/** Created on first use: V8 takes 20 ms to load the locale data, and whole numbers do not need the data. */
const englishNumbers = once(() => new Intl.NumberFormat("en"));

export const sumOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);

/** Formats with a comma at each thousand and at most three digits after the point: `4,213`. */
export const formatNumber = (value: number): string =>
  Number.isSafeInteger(value) ? String(value).replace(thousands, ",") : englishNumbers().format(value);

const thousands = /\B(?=(?:\d{3})+$)/g;
