import { bodyJson, type Exchange, headerValues } from "../evidence/exchange.ts";
import { member } from "../base/json.ts";
import type { Sample } from "./sample.ts";
import { headerNames } from "../interface/headers.ts";

/** A header that holds one whole number; `null` where it is absent, repeated with another value, or no whole number. */
export function wholeNumberHeader(exchange: Exchange, name: string): number | null {
  const values = new Set(headerValues(exchange, name).map((value) => value.trim()));
  const [only] = values;
  return values.size === 1 && only !== undefined && /^-?\d{1,15}(\.0+)?$/.test(only) ? Number(only) : null;
}

/** Unix seconds of the `Date` header; `null` where it is absent or no date. */
export function dateSeconds(exchange: Exchange): number | null {
  const [value] = headerValues(exchange, "Date");
  const parsed = value === undefined ? Number.NaN : Date.parse(value);
  return Number.isNaN(parsed) ? null : parsed / 1000;
}

/** `retry_after` of a 429's body, in seconds, in either error form; `null` where it is absent or no number. */
export function retryAfterSeconds(exchange: Exchange): number | null {
  const error = member(bodyJson(exchange), "error");
  const found = member(error, "retry_after") ?? member(member(error, "details"), "retry_after");
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/** What the limiter showed in an exchange; `endClockMs` as in {@link Sample}. */
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
    limit: wholeNumberHeader(exchange, headerNames.rateLimit),
    remaining: wholeNumberHeader(exchange, headerNames.rateRemaining),
    reset: wholeNumberHeader(exchange, headerNames.rateReset),
    resetAfter: wholeNumberHeader(exchange, headerNames.rateResetAfter),
    retryAfterSeconds: status === 429 ? retryAfterSeconds(exchange) : null,
    date: dateSeconds(exchange),
  };
}

function kindOf(url: string): Sample["kind"] {
  const found = /\/agents\/[^/]+\/(invoke|stream|health)$/.exec(url)?.[1];
  return found === "invoke" || found === "stream" || found === "health" ? found : "other";
}
