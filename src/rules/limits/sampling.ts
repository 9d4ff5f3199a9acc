import { bodyJson, type Exchange, headerValues } from "../../evidence/exchange.ts";
import type { Sample } from "./sample.ts";
import { decimalNumber, readRateLimitInfo, retryAfterOf, unixSeconds, wholeNumber } from "./rate-limit-info.ts";

/** Returns the whole number in a header, or `null` if it is absent, repeated with another value, or no whole number. */
export const wholeNumberHeader = (exchange: Exchange, name: string): number | null =>
  wholeNumber(onlyValue(exchange, name));

/** The same for a time, which may have decimals. */
export const secondsHeader = (exchange: Exchange, name: string): number | null =>
  decimalNumber(onlyValue(exchange, name));

function onlyValue(exchange: Exchange, name: string): string | undefined {
  const values = new Set(headerValues(exchange, name).map((value) => value.trim()));
  const [only] = values;
  return values.size === 1 ? only : undefined;
}

/** Unix seconds of the `Date` header; `null` if it is absent or no date. */
export const dateSeconds = (exchange: Exchange): number | null => unixSeconds(headerValues(exchange, "Date")[0]);

/** `retry_after` of a 429's body, in seconds, in either error form; `null` if it is absent or no number. */
export const retryAfterSeconds = (exchange: Exchange): number | null => retryAfterOf(bodyJson(exchange));

/** Reduces an exchange to a sample. `endClockMs` as in {@link Sample}. */
export function sampleOf(exchange: Exchange, headClockMs: number, endClockMs: number): Sample {
  const { answer } = exchange;
  const status = answer.kind === "answered" ? answer.status : null;
  return {
    id: exchange.id,
    kind: kindOf(exchange.request.url),
    sentMs: exchange.sentMs,
    headMs: answer.kind === "answered" ? answer.headMs : answer.endMs,
    endMs: answer.endMs,
    sentClockMs: exchange.clockMs,
    headClockMs,
    endClockMs,
    status,
    ...readRateLimitInfo(status, answer.kind === "answered" ? answer.headers : [], () => bodyJson(exchange)),
  };
}

function kindOf(url: string): Sample["kind"] {
  const found = /\/agents\/[^/]+\/(invoke|stream|health)$/.exec(url)?.[1];
  if (found === "invoke" || found === "stream" || found === "health") return found;
  return /\/v\d+\/usage$/.test(url) ? "usage" : "other";
}
