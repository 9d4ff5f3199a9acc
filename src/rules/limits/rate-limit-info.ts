import { getPath } from "../../base/json.ts";
import { headerNames } from "../../spec/headers.ts";

// Scripts of k6 import this file: it has no Buffer, no URL and no package of others.

/** The members of a sample that hold the value of a rate-limit header. */
export const rateHeaders = {
  limit: headerNames.rateLimit,
  remaining: headerNames.rateRemaining,
  reset: headerNames.rateReset,
  resetAfter: headerNames.rateResetAfter,
} as const;

export type RateValue = keyof typeof rateHeaders;

export const rateValues = Object.keys(rateHeaders) as readonly RateValue[];

/** What a limiter showed in one answer. The values of headers are `null` where absent, sent with several values, or no number; counts are whole. */
export interface RateLimitInfo extends Readonly<Record<RateValue, number | null>> {
  /** Seconds, from the body of a 429, in either form. */
  readonly retryAfterSeconds: number | null;
  /** Unix seconds of the `Date` header. */
  readonly date: number | null;
}

const shownNames = [...rateValues, "retryAfterSeconds", "date"] as const satisfies readonly (keyof RateLimitInfo)[];

/** One after another by name: this runs for every line of a log. */
const shownBy = (valueOf: (name: keyof RateLimitInfo) => number | null): RateLimitInfo => ({
  limit: valueOf("limit"),
  remaining: valueOf("remaining"),
  reset: valueOf("reset"),
  resetAfter: valueOf("resetAfter"),
  retryAfterSeconds: valueOf("retryAfterSeconds"),
  date: valueOf("date"),
});

/** What a sample holds where nothing was shown of the limiter. */
export const noRateLimitInfo: RateLimitInfo = shownBy(() => null);

/** What was shown, out of all that is known of an answer. */
export const rateLimitInfoOf = ({
  limit,
  remaining,
  reset,
  resetAfter,
  retryAfterSeconds,
  date,
}: RateLimitInfo): RateLimitInfo => ({
  limit,
  remaining,
  reset,
  resetAfter,
  retryAfterSeconds,
  date,
});

/** The same out of kept evidence, of this version or another; `null` where a value is neither a number nor absent. */
export function parseRateLimitInfo(kept: Readonly<Record<string, unknown>>): RateLimitInfo | null {
  const numberOf = (value: unknown): number | null =>
    typeof value === "number" && Number.isFinite(value) ? value : null;
  const isKept = shownNames.every((name) => (kept[name] ?? null) === null || numberOf(kept[name]) !== null);
  return isKept ? shownBy((name) => numberOf(kept[name])) : null;
}

/**
 * Reads what a limiter showed.
 * @param headers all of the answer's, in any letter case
 * @param json the value of the body; asked for where the answer is a 429
 */
export function readRateLimitInfo(
  status: number | null,
  headers: readonly (readonly [name: string, value: string])[],
  json: () => unknown,
): RateLimitInfo {
  const values = new Map<string, string>();
  // No `for … of`: the interpreter of k6 takes many times as long for what iterates.
  headers.forEach((header) => {
    const name = header[0].toLowerCase();
    if (!wanted.has(name)) return;
    const value = header[1].trim();
    values.set(name, (values.get(name) ?? value) === value ? value : severalValues);
  });
  return shownBy((name) => {
    if (name === "date") return unixSeconds(values.get("date"));
    if (name === "retryAfterSeconds") return status === 429 ? retryAfterOf(json()) : null;
    return rateNumber(name, values.get(lowerCase[name]));
  });
}

/** What a rate-limit header holds: times may have decimals, counts not; `null` where it is no such number. */
export const rateNumber = (name: RateValue, text: string | undefined): number | null =>
  name === "reset" || name === "resetAfter" ? decimalNumber(text) : wholeNumber(text);

const lowerCase = Object.fromEntries(rateValues.map((name) => [name, rateHeaders[name].toLowerCase()])) as Readonly<
  Record<RateValue, string>
>;
const wanted = new Set([...Object.values(lowerCase), "date"]);

/** Neither a number nor a date. */
const severalValues = "several values";

/** A whole number as sent, also a negative one: whether it may be so is for the judge. */
export const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}(\.0+)?$/.test(text.trim()) ? Number(text) : null;

/** A number as sent, with decimals or without. */
export const decimalNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}(\.\d+)?$/.test(text.trim()) ? Number(text) : null;

/** Thousands of answers have the same date: it is read once. */
let lastDate: { readonly text: string; readonly seconds: number | null } = { text: "", seconds: null };

/** Unix seconds of a `Date` header; `null` where it is absent or no date. */
export function unixSeconds(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (text !== lastDate.text) {
    const ms = Date.parse(text);
    lastDate = { text, seconds: Number.isNaN(ms) ? null : Math.floor(ms / 1000) };
  }
  return lastDate.seconds;
}

/** `retry_after` of a 429's body, in seconds, in either error form; `null` where it is absent or no number. */
export function retryAfterOf(json: unknown): number | null {
  const found = getPath(json, "error", "retry_after") ?? getPath(json, "error", "details", "retry_after");
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}
