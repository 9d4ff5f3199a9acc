import { is2xx } from "../../base/http.ts";
import { bodyJson, type Exchange, headerValues } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import {
  decimalNumber,
  type RateLimitInfo,
  readRateLimitInfo,
  retryAfterOf,
  unixSeconds,
  wholeNumber,
} from "./rate-limit-info.ts";
import { usageCountIn } from "./usage-report.ts";

/** Times and rate-limit values of a request and its response, without bodies. Times are in ms on the client's clock. */
export interface RequestSample extends RateLimitInfo {
  readonly id: string;
  /** `health` must not count toward rate limits. The server decides whether `other`, `usage` and `list` count. */
  readonly kind: "invoke" | "stream" | "health" | "usage" | "list" | "other";
  readonly sentMs: number;
  /** Arrival of the response's head. Without a response, the time at which the client stopped waiting. */
  readonly headMs: number;
  readonly endMs: number;
  readonly status: number | null;
}

/** A sample of a conformance run, which may have advanced the target's test clock. */
export interface Sample extends RequestSample {
  /** Total advance of the target's test clock when the run sent the request, in ms. */
  readonly sentClockMs: number;
  readonly headClockMs: number;
  readonly endClockMs: number;
  readonly since?: string;
  /** State of the key, e.g. `minute used up`, if a probe used up a limit on purpose before it sent this request. */
  readonly keyState?: string;
  /** Present if the response is a usage report with no monthly tokens left. */
  readonly tokensSpent?: true;
}

export const isAdmitted = ({ status }: Pick<RequestSample, "status">): boolean => is2xx(status);

export const isRefused = ({ status }: Pick<RequestSample, "status">): boolean => status === 429;

/** Whether a request is an invoke or a stream, and so runs an agent. Every rate limit counts such requests. */
export const isAgentCall = ({ kind }: Pick<RequestSample, "kind">): boolean => kind === "invoke" || kind === "stream";

export const wholeNumberHeader = (exchange: Exchange, name: string): number | null =>
  wholeNumber(onlyValue(exchange, name));

/**
 * Returns the seconds in a header, with decimals. `null`: the header is absent, malformed, or sent with different
 * values.
 */
export const secondsHeader = (exchange: Exchange, name: string): number | null =>
  decimalNumber(onlyValue(exchange, name));

function onlyValue(exchange: Exchange, name: string): string | undefined {
  const values = new Set(headerValues(exchange, name).map((value) => value.trim()));
  const [only] = values;
  return values.size === 1 ? only : undefined;
}

export const dateSeconds = (exchange: Exchange): number | null => unixSeconds(headerValues(exchange, "Date")[0]);

/** Returns the target's time in Unix seconds: `Reset` minus `Reset-After`. `null` if either has no valid value. */
export function nowByReset(exchange: Exchange): number | null {
  const reset = secondsHeader(exchange, headerNames.rateReset);
  const resetAfter = secondsHeader(exchange, headerNames.rateResetAfter);
  return reset === null || resetAfter === null ? null : reset - resetAfter;
}

export const retryAfterSeconds = (exchange: Exchange): number | null => retryAfterOf(bodyJson(exchange));

/** Creates the sample of an exchange. `headClockMs`: total advance of the test clock when the status arrived, in ms. */
export function sampleOf(exchange: Exchange, headClockMs = exchange.clockMs, endClockMs = headClockMs): Sample {
  const { answer } = exchange;
  const status = answer.kind === "answered" ? answer.status : null;
  const kind = kindOf(exchange.request);
  return {
    id: exchange.id,
    kind,
    sentMs: exchange.sentMs,
    headMs: answer.kind === "answered" ? answer.headMs : answer.endMs,
    endMs: answer.endMs,
    sentClockMs: exchange.clockMs,
    headClockMs,
    endClockMs,
    status,
    ...(exchange.since === undefined ? {} : { since: exchange.since }),
    ...(exchange.keyState === undefined ? {} : { keyState: exchange.keyState }),
    ...(kind === "usage" && is2xx(status) && showsTokensSpent(exchange) ? { tokensSpent: true } : {}),
    ...readRateLimitInfo(status, answer.kind === "answered" ? answer.headers : [], () => bodyJson(exchange)),
  };
}

const showsTokensSpent = (exchange: Exchange): boolean =>
  (usageCountIn(bodyJson(exchange), "tokens")?.remaining ?? 1) <= 0;

function kindOf({ method, url }: Exchange["request"]): Sample["kind"] {
  const found = /\/agents\/[^/]+\/(invoke|stream|health)$/.exec(url)?.[1];
  if (found === "invoke" || found === "stream") return found;
  // Only a GET of this path is a health request. Rate limits may count requests with other methods.
  if (found === "health") return method === "GET" ? "health" : "other";
  if (/\/v\d+\/agents(\?.*)?$/.test(url)) return "list";
  return /\/v\d+\/usage$/.test(url) ? "usage" : "other";
}
