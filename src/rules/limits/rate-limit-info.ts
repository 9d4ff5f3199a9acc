import { getPath } from "../../base/json.ts";
import { rateHeaders, type RateValue, rateValues } from "../../spec/headers.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/**
 * The values of a response about the rate limit. The value of a header is `null` if the header is absent, was sent
 * twice with different values, or is not a number. Counts are whole numbers.
 */
export interface RateLimitInfo extends Readonly<Record<RateValue, number | null>> {
  /** `retry_after` of a 429's body in seconds, in either error form; `null` without one. */
  readonly retryAfterSeconds: number | null;
  /** The `Date` header in Unix seconds; `null` without one. */
  readonly date: number | null;
}

type InfoName = keyof RateLimitInfo;
const infoNames: readonly InfoName[] = [...rateValues, "retryAfterSeconds", "date"];

function infoFrom(valueOf: (name: InfoName) => number | null): RateLimitInfo {
  const info: Partial<Record<InfoName, number | null>> = {};
  // No `for … of`: iterators are many times slower in k6's interpreter.
  infoNames.forEach((name) => (info[name] = valueOf(name)));
  return info as RateLimitInfo;
}

/** The values of a request that got no response: all are `null`. */
export const noRateLimitInfo: RateLimitInfo = infoFrom(() => null);

/** Copies the rate-limit values of a sample. */
export const rateLimitInfoOf = (sample: RateLimitInfo): RateLimitInfo => infoFrom((name) => sample[name]);

/** Reads the values from saved evidence of any version. Returns `null` if some value is neither a number nor absent. */
export function parseRateLimitInfo(kept: Readonly<Record<string, unknown>>): RateLimitInfo | null {
  const numberOf = (value: unknown): number | null =>
    typeof value === "number" && Number.isFinite(value) ? value : null;
  const isKept = infoNames.every((name) => (kept[name] ?? null) === null || numberOf(kept[name]) !== null);
  return isKept ? infoFrom((name) => numberOf(kept[name])) : null;
}

/**
 * Reads the values from a response.
 *
 * @param headers all headers of the response, with names in any letter case
 * @param json returns the JSON value of the body; called only for a 429
 */
export function readRateLimitInfo(
  status: number | null,
  headers: readonly (readonly [name: string, value: string])[],
  json: () => unknown,
): RateLimitInfo {
  const values = new Map<string, string>();
  // No `for … of`: iterators are many times slower in k6's interpreter.
  headers.forEach((header) => {
    const name = header[0].toLowerCase();
    if (!headersToRead.has(name)) return;
    const value = header[1].trim();
    values.set(name, (values.get(name) ?? value) === value ? value : severalValues);
  });
  return infoFrom((name) => {
    if (name === "date") return unixSeconds(values.get("date"));
    if (name === "retryAfterSeconds") return status === 429 ? retryAfterOf(json()) : null;
    return rateNumber(name, values.get(lowerCase[name]));
  });
}

/**
 * Parses the value of a rate-limit header. Times may have decimals, numbers of requests may not. Returns `null` for any
 * other text.
 */
export const rateNumber = (name: RateValue, text: string | undefined): number | null =>
  rateHeaders[name].unit === "requests" ? wholeNumber(text) : decimalNumber(text);

const lowerCase = Object.fromEntries(
  rateValues.map((name) => [name, rateHeaders[name].header.toLowerCase()]),
) as Readonly<Record<RateValue, string>>;
const headersToRead = new Set([...Object.values(lowerCase), "date"]);

/**
 * Takes the place of a header that was sent twice with different values. It is neither a number nor a date, so the
 * value becomes `null`.
 */
const severalValues = "several values";

/**
 * Parses a whole number, which may be negative: the rule `notNegative` judges the sign. Returns `null` for any other
 * text.
 */
export const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}(\.0+)?$/.test(text.trim()) ? Number(text) : null;

/** Parses a number, with or without decimals. Returns `null` for any other text. */
export const decimalNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}(\.\d+)?$/.test(text.trim()) ? Number(text) : null;

/**
 * The last `Date` header and its value. Under load, thousands of responses have the same one, which is parsed only
 * once.
 */
let lastDate: { readonly text: string; readonly seconds: number | null } = { text: "", seconds: null };

/** Returns a `Date` header in Unix seconds; `null` if it is absent or not a date. */
export function unixSeconds(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (text !== lastDate.text) {
    const ms = Date.parse(text);
    lastDate = { text, seconds: Number.isNaN(ms) ? null : Math.floor(ms / 1000) };
  }
  return lastDate.seconds;
}

/** Returns `retry_after` of a 429's body in seconds, in either error form; `null` if it is absent or not a number. */
export function retryAfterOf(json: unknown): number | null {
  const found = getPath(json, "error", "retry_after") ?? getPath(json, "error", "details", "retry_after");
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}
