import { minuteMs } from "../../base/duration.ts";
import { headerNames } from "../../spec/headers.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { nextMonthMs, type Account, type Refusal, type TokenCount } from "../limits/account.ts";
import { fixedWindow, windowsOf, type Limiter, type WindowStatus } from "../limits/windows.ts";
import type { Header, ResponseHead } from "./transport.ts";
import { type Endpoint, isUndocumented, runsAgent } from "../endpoint.ts";

/**
 * Event of a response. `head`: status and headers are sent. `end`: the response has ended. `left`: the client has
 * disconnected.
 */
export type ResponseEvent = "head" | "end" | "left";

const addressLimitPerMinute = 1000;

/** The reference server's standard behaviour for limits. Source: Limits. */
export const standardLimits = {
  limiters: (limits: TierLimits): readonly Limiter[] => {
    const { hour, minute } = windowsOf(limits);
    return [fixedWindow(hour), fixedWindow(minute)];
  },
  addressLimiter: (): Limiter => fixedWindow({ window: "address", limit: addressLimitPerMinute, windowMs: minuteMs }),
  maxConcurrentRequests: ({ concurrent }: TierLimits): number => concurrent,
  tokensPerMonth: ({ tokensPerMonth }: TierLimits): number => tokensPerMonth ?? Number.MAX_SAFE_INTEGER,
  isLimited: (endpoint: Endpoint): boolean => endpoint !== "health" && !isUndocumented(endpoint),
  /** Whether invoke and stream report errors of the agent and the body before errors of the limits. */
  reportsLimitErrorsLast: (): boolean => false,
  takesSlot: (endpoint: Endpoint): boolean => endpoint !== "health" && !isUndocumented(endpoint),
  /** Whether this endpoint refuses requests once the month's tokens are used up. */
  needsTokens: runsAgent,
  requestCost: (endpoint: Endpoint, _agent: "known" | "unknown" | "none"): number =>
    endpoint === "health" || isUndocumented(endpoint) ? 0 : 1,
  countsRefused: (_kind: Refusal["kind"]): boolean => false,
  /** Whether a request with this response counts against the limits. If not, the server uncounts the request. */
  remainsCounted: (_head: ResponseHead): boolean => true,
  /** Returns how many requests the server uncounts if `remainsCounted` returns `false`. */
  refundedRequests: (): number => 1,
  isInUsage: (_head: ResponseHead): boolean => true,
  requestsPerChunk: (): number => 0,
  releasesSlot: (event: ResponseEvent, _head: ResponseHead): boolean => event !== "head",
  /** Returns the delay from a response event, e.g. `end`, until the slot is free, in ms of the server's clock. */
  releaseDelayMs: (_event: ResponseEvent, _head: ResponseHead): number => 0,
  /** Chooses the window that the rate-limit headers report. */
  advertisedWindow: (windows: readonly WindowStatus[]): WindowStatus =>
    windows.reduce((tightest, window) => (isTighter(window, tightest) ? window : tightest)),
  /** Chooses the window in the headers of a 429 for the request rate. `exhausted` is the window that refused. */
  refusalWindow: (exhausted: WindowStatus, _advertised: WindowStatus): WindowStatus => exhausted,
  tokenQuotaWindow: (advertised: WindowStatus, _tokens: TokenCount, _backAtMs: number): WindowStatus => advertised,
  /** Whether rate-limit headers show the state when the response is sent, not when the request arrived. */
  refreshesBeforeSending: (): boolean => false,
  rateHeaders: (
    { limit, remaining, resetAtMs }: WindowStatus,
    nowMs: number,
    _head: ResponseHead,
  ): readonly Header[] => [
    [headerNames.rateLimit, String(limit)],
    [headerNames.rateRemaining, String(remaining)],
    [headerNames.rateReset, String(Math.ceil(resetAtMs / 1000))],
    [headerNames.rateResetAfter, String(Math.max(0, Math.ceil((resetAtMs - nowMs) / 1000)))],
  ],
  retryAfterSeconds: ({ roomAtMs }: Refusal, nowMs: number): number =>
    Math.max(1, Math.ceil((roomAtMs - nowMs) / 1000)),
  tokenCount: (account: Account, nowMs: number): TokenCount => account.tokens(nowMs),
  chargeTokens: (account: Account, count: number, nowMs: number, _endpoint: Endpoint): void =>
    account.useTokens(count, nowMs),
  tokensBackAtMs: nextMonthMs,
};

function isTighter(one: WindowStatus, other: WindowStatus): boolean {
  if (one.remaining !== other.remaining) return one.remaining < other.remaining;
  return one.resetAtMs > other.resetAtMs;
}
