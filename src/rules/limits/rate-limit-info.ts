import { getPath } from "../../base/json.ts";
import { rateHeaderOf, type RateValue, rateValues, type TypeOfRateValue } from "../../spec/headers.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/** The values of the rate-limit headers; `null` if absent, malformed or ambiguous. */
type RateHeaderValues = { readonly [N in RateValue]: TypeOfRateValue<N> | null };

/** The values in a response that describe the rate limit. */
export interface RateLimitInfo extends RateHeaderValues {
  /** `retry_after` of a 429's body in seconds, in either error form; `null` without one. */
  readonly retryAfterSeconds: number | null;
  /** The `Date` header in Unix seconds; `null` without one. */
  readonly date: number | null;
}

type InfoName = keyof RateLimitInfo;
const infoNames: readonly InfoName[] = [...rateValues, "retryAfterSeconds", "date"];

type InfoValue = RateLimitInfo[InfoName];

function infoFrom(valueOf: (name: InfoName) => InfoValue): RateLimitInfo {
  const info: Partial<Record<InfoName, InfoValue>> = {};
  // No `for … of`: iterators are many times slower in k6's interpreter.
  infoNames.forEach((name) => (info[name] = valueOf(name)));
  return info as RateLimitInfo;
}

/** The values of a request that got no response: all are `null`. */
export const noRateLimitInfo: RateLimitInfo = infoFrom(() => null);

/** Copies the rate-limit values of a sample. */
export const rateLimitInfoOf = (sample: RateLimitInfo): RateLimitInfo => infoFrom((name) => sample[name]);

/** Reads rate-limit values from saved evidence of any version; `null` if one is invalid. */
export function parseRateLimitInfo(kept: Readonly<Record<string, unknown>>): RateLimitInfo | null {
  const isValid = infoNames.every((name) => {
    const value = kept[name] ?? null;
    return value === null || isInfoValue(name, value);
  });
  return isValid ? infoFrom((name) => (kept[name] ?? null) as InfoValue) : null;
}

const isInfoValue = (name: InfoName, value: unknown): boolean =>
  name === "date" || name === "retryAfterSeconds" ? Number.isFinite(value) : isRateValue(name, value);

/** Whether a value has the type of its header: a whole number, a number, or one of a list of texts. */
export function isRateValue(name: RateValue, value: unknown): boolean {
  const { value: accepted } = rateHeaderOf(name);
  if (typeof accepted !== "string") return accepted.some((each) => each === value);
  return accepted === "requests" ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Reads the rate-limit values from a response. `json` is called only for a 429. */
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
    return readRateValue(name, values.get(lowerCase[name]));
  });
}

/** Reads the value of a rate-limit header. Returns `null` for a value that the document does not accept. */
export function readRateValue(name: RateValue, text: string | undefined): InfoValue {
  const { value } = rateHeaderOf(name);
  if (typeof value !== "string") return (value.find((each) => each === text?.trim()) ?? null) as InfoValue;
  return value === "requests" ? wholeNumber(text) : decimalNumber(text);
}

const lowerCase = Object.fromEntries(
  rateValues.map((name) => [name, rateHeaderOf(name).header.toLowerCase()]),
) as Readonly<Record<RateValue, string>>;
const headersToRead = new Set([...Object.values(lowerCase), "date"]);

/** Stands for a header that was sent twice with different values. It is neither a number nor a date. */
const severalValues = "several values";

/** Parses a whole number, which may be negative; `null` for any other text. */
export const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}(\.0+)?$/.test(text.trim()) ? Number(text) : null;

/** Parses a number, with or without decimals. Returns `null` for any other text. */
export const decimalNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}(\.\d+)?$/.test(text.trim()) ? Number(text) : null;

/** The last `Date` header and its value: under load, thousands of responses have the same one. */
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

/** Returns `retry_after` from the body of a 429, in seconds; `null` without a number. */
export function retryAfterOf(json: unknown): number | null {
  const found = getPath(json, "error", "retry_after") ?? getPath(json, "error", "details", "retry_after");
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}
