import { headerNames } from "../../spec/headers.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { nextMonthMs, type Account, type Refusal, type TokenCount } from "../limits/account.ts";
import { fixedWindow, minuteMs, windowsOf, type Limiter, type WindowStatus } from "../limits/windows.ts";
import { isServerOwn, runsAgent, type Operation } from "../api-error.ts";
import type { Header, HeadInput } from "./transport.ts";

/**
 * The events that may free a slot for concurrent requests: the head is sent, the response ends, or the client leaves
 * early.
 */
export type ResponseEvent = "head" | "end" | "left";

const addressLimit = 1000;

/** The server's decisions about limits. Source: Limits. */
export const standardLimits = {
  /** Creates the limiters of a new account. A request is admitted if all limiters have room. */
  limiters: (limits: TierLimits): readonly Limiter[] => {
    const { hour, minute } = windowsOf(limits);
    return [fixedWindow(hour), fixedWindow(minute)];
  },
  /** Creates the limiter of an address, for requests without a valid key. */
  addressLimiter: (): Limiter => fixedWindow({ window: "address", limit: addressLimit, windowMs: minuteMs }),
  slots: ({ concurrent }: TierLimits): number => concurrent,
  tokensPerMonth: ({ tokensPerMonth }: TierLimits): number => tokensPerMonth ?? Number.MAX_SAFE_INTEGER,
  /** Whether a limit on the number of requests may refuse an operation. */
  isLimited: (operation: Operation): boolean => operation !== "health" && !isServerOwn(operation),
  /** Whether invoke and stream respond 429 only to requests that are valid otherwise. */
  reportsLimitErrorsLast: (): boolean => false,
  /** Whether an operation takes a slot for concurrent requests. */
  takesSlot: (operation: Operation): boolean => operation !== "health" && !isServerOwn(operation),
  /** Whether an operation is refused once the month's tokens are used up. */
  needsTokens: runsAgent,
  /** Returns how many requests an admitted request counts as. Decided when the request arrives. */
  cost: (operation: Operation, _agent: "known" | "unknown" | "none"): number =>
    operation === "health" || isServerOwn(operation) ? 0 : 1,
  /** Whether a refused request counts against the limits. */
  countsRefused: (_kind: Refusal["kind"]): boolean => false,
  /** Whether a request remains counted after its response is known. */
  remainsCounted: (_head: HeadInput): boolean => true,
  /** How many times a request is uncounted if it does not remain counted. Above 1, the key gains requests. */
  refunds: (): number => 1,
  /** Whether `GET /usage` includes a counted request in the key's used requests. */
  isInUsage: (_head: HeadInput): boolean => true,
  /** Returns how many requests each chunk of a stream counts as. */
  requestsPerChunk: (): number => 0,
  releasesSlot: (event: ResponseEvent, _head: HeadInput): boolean => event !== "head",
  /** Milliseconds on the server's clock from the event until the request's slot is free again. */
  releaseDelayMs: (_event: ResponseEvent, _head: HeadInput): number => 0,
  /** Chooses the window that the headers report, out of at least one window. */
  advertisedWindow: (windows: readonly WindowStatus[]): WindowStatus =>
    windows.reduce((tightest, window) => (isTighter(window, tightest) ? window : tightest)),
  /** Chooses the window that the headers report when a limit on the number of requests is exceeded. */
  refusalWindow: (exhausted: WindowStatus, _advertised: WindowStatus): WindowStatus => exhausted,
  /** Makes the window that the headers report when the month's tokens are used up. */
  tokenQuotaWindow: (advertised: WindowStatus, _tokens: TokenCount, _backAtMs: number): WindowStatus => advertised,
  /** Whether the rate-limit headers describe the time of the response instead of the request's arrival. */
  refreshesBeforeSending: (): boolean => false,
  rateHeaders: ({ limit, remaining, resetAtMs }: WindowStatus, nowMs: number, _head: HeadInput): readonly Header[] => [
    [headerNames.rateLimit, String(limit)],
    [headerNames.rateRemaining, String(remaining)],
    [headerNames.rateReset, String(Math.ceil(resetAtMs / 1000))],
    [headerNames.rateResetAfter, String(Math.max(0, Math.ceil((resetAtMs - nowMs) / 1000)))],
  ],
  retryAfterSeconds: ({ roomAtMs }: Refusal, nowMs: number): number =>
    Math.max(1, Math.ceil((roomAtMs - nowMs) / 1000)),
  /** Charges the tokens of an execution to its account. */
  chargeTokens: (account: Account, count: number, nowMs: number, _operation: Operation): void =>
    account.useTokens(count, nowMs),
  /** Returns the instant from which tokens are available again. */
  tokensBackAtMs: nextMonthMs,
};

/**
 * Whether window `one` has fewer requests left than `other`. If both have the same number, whether `one` resets later.
 */
function isTighter(one: WindowStatus, other: WindowStatus): boolean {
  if (one.remaining !== other.remaining) return one.remaining < other.remaining;
  return one.resetAtMs > other.resetAtMs;
}
