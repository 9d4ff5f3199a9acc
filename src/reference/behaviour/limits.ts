import { headerNames } from "../../spec/headers.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { nextMonthMs, type Account, type Refusal, type TokenCount } from "../limits/account.ts";
import { fixedWindow, minuteMs, windowsOf, type Limiter, type WindowStatus } from "../limits/windows.ts";
import { isServerOwn, runsAgent, type Operation } from "../api-error.ts";
import type { Header, HeadInput } from "./transport.ts";

/** The events that may give a slot back: the head is sent, the response ends, or the client leaves before the end. */
export type ResponseEvent = "head" | "end" | "left";

/** Decisions about limits. Source: Limits. */
export interface LimitBehaviour {
  /** The limiters of a new account. A request is admitted if all of them have room. */
  limiters(limits: TierLimits): readonly Limiter[];
  /** The limiter for requests without a valid key, one for each address. */
  addressLimiter(): Limiter;
  slots(limits: TierLimits): number;
  tokensPerMonth(limits: TierLimits): number;
  /** Whether a limit on the number of requests may refuse an operation. */
  isLimited(operation: Operation): boolean;
  /** Whether invoke and stream report a limit only if the request is valid otherwise. */
  reportsLimitErrorsLast(): boolean;
  /** Whether an operation takes a slot for concurrent requests. */
  takesSlot(operation: Operation): boolean;
  /** Whether an operation is refused after the month's tokens are used up. */
  needsTokens(operation: Operation): boolean;
  /** Whether an admitted request counts against the limits. Decided on arrival. */
  counts(operation: Operation): boolean;
  /** Whether a refused request counts against the limits. */
  countsRefused(kind: Refusal["kind"]): boolean;
  /** Whether a request remains counted after its response is known. */
  remainsCounted(head: HeadInput): boolean;
  /** The number of requests that each chunk of a stream counts as. */
  requestsPerChunk(): number;
  releasesSlot(event: ResponseEvent, head: HeadInput): boolean;
  /** Milliseconds on the server's clock from the event until the slot is free. */
  releaseDelayMs(event: ResponseEvent, head: HeadInput): number;
  /** Chooses the window that the headers report. There is always at least one. */
  advertisedWindow(windows: readonly WindowStatus[]): WindowStatus;
  /** Chooses the window that the headers report if the number of requests is exceeded. */
  refusalWindow(exhausted: WindowStatus, advertised: WindowStatus): WindowStatus;
  /** Makes the window that the headers report if the month's tokens are used up. */
  tokenQuotaWindow(advertised: WindowStatus, tokens: TokenCount, backAtMs: number): WindowStatus;
  /** Whether the headers report the window at the time of sending, not at the request's arrival. */
  refreshesBeforeSending(): boolean;
  rateHeaders(window: WindowStatus, nowMs: number, head: HeadInput): readonly Header[];
  retryAfterSeconds(refusal: Refusal, nowMs: number): number;
  /** Charges the tokens of an execution to its account. */
  chargeTokens(account: Account, count: number, nowMs: number, operation: Operation): void;
  /** When the month's tokens are available again. */
  tokensBackAtMs(nowMs: number): number;
}

const addressLimit = 1000;

export const standardLimits: LimitBehaviour = {
  limiters: (limits) => {
    const { hour, minute } = windowsOf(limits);
    return [fixedWindow(hour), fixedWindow(minute)];
  },
  addressLimiter: () => fixedWindow({ window: "address", limit: addressLimit, windowMs: minuteMs }),
  slots: ({ concurrent }) => concurrent,
  tokensPerMonth: ({ tokensPerMonth }) => tokensPerMonth ?? Number.MAX_SAFE_INTEGER,
  isLimited: (operation) => operation !== "health" && !isServerOwn(operation),
  reportsLimitErrorsLast: () => false,
  takesSlot: (operation) => operation !== "health" && !isServerOwn(operation),
  needsTokens: runsAgent,
  counts: (operation) => operation !== "health" && !isServerOwn(operation),
  countsRefused: () => false,
  remainsCounted: () => true,
  requestsPerChunk: () => 0,
  releasesSlot: (event) => event !== "head",
  releaseDelayMs: () => 0,
  advertisedWindow: (windows) =>
    windows.reduce((tightest, window) => (isTighter(window, tightest) ? window : tightest)),
  refusalWindow: (exhausted) => exhausted,
  tokenQuotaWindow: (advertised) => advertised,
  refreshesBeforeSending: () => false,
  rateHeaders: ({ limit, remaining, resetAtMs }, nowMs) => [
    [headerNames.rateLimit, String(limit)],
    [headerNames.rateRemaining, String(remaining)],
    [headerNames.rateReset, String(Math.ceil(resetAtMs / 1000))],
    [headerNames.rateResetAfter, String(Math.max(0, Math.ceil((resetAtMs - nowMs) / 1000)))],
  ],
  retryAfterSeconds: ({ roomAtMs }, nowMs) => Math.max(1, Math.ceil((roomAtMs - nowMs) / 1000)),
  chargeTokens: (account, count, nowMs) => account.useTokens(count, nowMs),
  tokensBackAtMs: nextMonthMs,
};

/** Whether a window has fewer requests left, or the same number for a longer time. */
function isTighter(one: WindowStatus, other: WindowStatus): boolean {
  if (one.remaining !== other.remaining) return one.remaining < other.remaining;
  return one.resetAtMs > other.resetAtMs;
}
