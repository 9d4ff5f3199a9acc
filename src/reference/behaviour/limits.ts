import { headerNames } from "../../spec/headers.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { nextMonthMs, type Account, type Refusal, type TokenCount } from "../limits/account.ts";
import { fixedWindow, minuteMs, windowsOf, type Limiter, type WindowStatus } from "../limits/windows.ts";
import { isServerOwn, runsAgent, type Operation } from "../api-error.ts";
import type { Header, HeadInput } from "./transport.ts";

/** When a slot may come back: the head was sent, the answer ended, or the client left before its end. */
export type ResponseEvent = "head" | "end" | "left";

/** Decisions about limits. Source: Limits. */
export interface LimitBehaviour {
  /** The limiters of a new account; all of them must have room. */
  limiters(limits: TierLimits): readonly Limiter[];
  /** The limiter of requests that come from one address without a valid key. */
  addressLimiter(): Limiter;
  slots(limits: TierLimits): number;
  tokensPerMonth(limits: TierLimits): number;
  /** Whether an operation may be refused for the number of requests. */
  isLimited(operation: Operation): boolean;
  /** Whether a turn is refused by a limit only where nothing else is wrong with it. */
  reportsLimitErrorsLast(): boolean;
  /** Whether an operation takes one of the slots for concurrent requests. */
  takesSlot(operation: Operation): boolean;
  /** Whether an operation is refused once the month's tokens are used up. */
  needsTokens(operation: Operation): boolean;
  /** Whether an admitted request uses up the allowance, decided when it arrives. */
  counts(operation: Operation): boolean;
  /** Whether a refused request uses up the allowance. */
  countsRefused(kind: Refusal["kind"]): boolean;
  /** Whether a counted request stays counted once its answer is known. */
  remainsCounted(facts: HeadInput): boolean;
  /** Requests that each chunk of a stream uses up. */
  requestsPerChunk(): number;
  releasesSlot(moment: ResponseEvent, facts: HeadInput): boolean;
  /** Milliseconds on the clock from that moment until the slot is back. */
  releaseDelayMs(moment: ResponseEvent, facts: HeadInput): number;
  /** Which of the readings, never none, the headers speak of. */
  advertisedWindow(readings: readonly WindowStatus[]): WindowStatus;
  /** Which reading the headers of a refusal for the number of requests speak of. */
  refusalWindow(refusing: WindowStatus, shown: WindowStatus): WindowStatus;
  /** Which reading the headers of a refusal for the month's tokens speak of. */
  tokenQuotaWindow(shown: WindowStatus, tokens: TokenCount, backAtMs: number): WindowStatus;
  /** Whether the headers speak of the instant at which the head is sent, not of the request's own decision. */
  refreshesBeforeSending(): boolean;
  rateHeaders(reading: WindowStatus, nowMs: number, facts: HeadInput): readonly Header[];
  retryAfterSeconds(refusal: Refusal, nowMs: number): number;
  /** Books the tokens of a turn on its account. */
  chargeTokens(account: Account, count: number, nowMs: number, operation: Operation): void;
  /** From when on the month's tokens are there again. */
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
  releasesSlot: (moment) => moment !== "head",
  releaseDelayMs: () => 0,
  advertisedWindow: (readings) =>
    readings.reduce((tightest, reading) => (isTighter(reading, tightest) ? reading : tightest)),
  refusalWindow: (refusing) => refusing,
  tokenQuotaWindow: (shown) => shown,
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

/** Fewer requests left, or as few for longer. */
function isTighter(one: WindowStatus, other: WindowStatus): boolean {
  if (one.remaining !== other.remaining) return one.remaining < other.remaining;
  return one.resetAtMs > other.resetAtMs;
}
