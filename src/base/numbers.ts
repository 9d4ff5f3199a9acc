import { once } from "./memoize.ts";

export function rounded(value: number, digits: number): number {
  const power = 10 ** digits;
  return Math.round(value * power) / power;
}

/** Formatter for English numbers. Created on first use, because V8 takes 20 ms to load the locale data. */
const englishNumbers = once(() => new Intl.NumberFormat("en"));

export const sumOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);

/** Returns `part` as a percentage of `total`. Rounds down, so that 99.9 % never appears as 100 %. */
export const wholePercent = (part: number, total: number): number => Math.floor((100 * part) / Math.max(1, total));

/** Formats a number with a comma at each thousand, and at most three decimals: `4,213`. */
export const formatNumber = (value: number): string =>
  Number.isSafeInteger(value) ? String(value).replace(thousands, ",") : englishNumbers().format(value);

const thousands = /\B(?=(?:\d{3})+$)/g;

/** Creates a generator of random numbers in [0, 1) from a seed (mulberry32), for repeatable results. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => ({ item, weight: random() }))
    .toSorted((one, other) => one.weight - other.weight)
    .map(({ item }) => item);
