import { getPath } from "../../base/json.ts";
import { rateHeaderOf, type RateHeaderKey, rateHeaderKeys, type TypeOfRateValue } from "../../spec/headers.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/** The values of the rate-limit headers. `null`: the header is absent, malformed, or sent with different values. */
type RateHeaderValues = { readonly [N in RateHeaderKey]: TypeOfRateValue<N> | null };

export interface RateLimitInfo extends RateHeaderValues {
  /** `retry_after` from the body of a 429, in seconds; `null` if the response has none. */
  readonly retryAfterSeconds: number | null;
  /** The `Date` header in Unix seconds; `null` if absent or malformed. */
  readonly date: number | null;
}

type InfoName = keyof RateLimitInfo;
const infoNames: readonly InfoName[] = [...rateHeaderKeys, "retryAfterSeconds", "date"];

type InfoValue = RateLimitInfo[InfoName];

function infoFrom(valueOf: (name: InfoName) => InfoValue): RateLimitInfo {
  const info: Partial<Record<InfoName, InfoValue>> = {};
  // No `for … of`: iterators are many times slower in k6's interpreter.
  infoNames.forEach((name) => (info[name] = valueOf(name)));
  return info as RateLimitInfo;
}

export const noRateLimitInfo: RateLimitInfo = infoFrom(() => null);

export const rateLimitInfoOf = (sample: RateLimitInfo): RateLimitInfo => infoFrom((name) => sample[name]);

export function parseRateLimitInfo(kept: Readonly<Record<string, unknown>>): RateLimitInfo | null {
  const isValid = infoNames.every((name) => {
    const value = kept[name] ?? null;
    return value === null || isInfoValue(name, value);
  });
  return isValid ? infoFrom((name) => (kept[name] ?? null) as InfoValue) : null;
}

const isInfoValue = (name: InfoName, value: unknown): boolean =>
  name === "date" || name === "retryAfterSeconds" ? Number.isFinite(value) : isRateValue(name, value);

export function isRateValue(name: RateHeaderKey, value: unknown): boolean {
  const { value: accepted } = rateHeaderOf(name);
  if (typeof accepted !== "string") return accepted.some((each) => each === value);
  return accepted === "requests" ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Reads the rate-limit values of a response. Calls `json` to parse the body only if the status is 429. */
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

export function readRateValue(name: RateHeaderKey, text: string | undefined): InfoValue {
  const { value } = rateHeaderOf(name);
  if (typeof value !== "string") return (value.find((each) => each === text?.trim()) ?? null) as InfoValue;
  return value === "requests" ? wholeNumber(text) : decimalNumber(text);
}

const lowerCase = Object.fromEntries(
  rateHeaderKeys.map((name) => [name, rateHeaderOf(name).header.toLowerCase()]),
) as Readonly<Record<RateHeaderKey, string>>;
const headersToRead = new Set([...Object.values(lowerCase), "date"]);

/** Stands for a header that was sent with different values. No header allows this text, so it is read as `null`. */
const severalValues = "several values";

export const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}(\.0+)?$/.test(text.trim()) ? Number(text) : null;

export const decimalNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}(\.\d+)?$/.test(text.trim()) ? Number(text) : null;

/** Caches the last `Date` header, because under load thousands of responses have the same one. */
let lastDate: { readonly text: string; readonly seconds: number | null } = { text: "", seconds: null };

export function unixSeconds(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (text !== lastDate.text) {
    const ms = Date.parse(text);
    lastDate = { text, seconds: Number.isNaN(ms) ? null : Math.floor(ms / 1000) };
  }
  return lastDate.seconds;
}

export function retryAfterOf(json: unknown): number | null {
  const found = getPath(json, "error", "retry_after") ?? getPath(json, "error", "details", "retry_after");
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}
