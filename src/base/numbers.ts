import { once } from "./memoize.ts";

/** With so many digits after the point, and no more than it needs. */
export function rounded(value: number, digits: number): number {
  const power = 10 ** digits;
  return Math.round(value * power) / power;
}

/** What V8 needs for a language takes it 20 ms to load, and whole numbers need none of it. */
const english = once(() => new Intl.NumberFormat("en"));

/** All of them added up; 0 of none. */
export const sumOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);

/** With a comma at each thousand, and at most three digits after the point: `4,213`. */
export const formatNumber = (value: number): string =>
  Number.isSafeInteger(value) ? String(value).replace(thousands, ",") : english().format(value);

const thousands = /\B(?=(?:\d{3})+$)/g;
