import type { Limiter, WindowReading } from "./windows.ts";

/** Which limit said no. */
export type LimitKind = "request-limit" | "concurrency-limit" | "token-quota" | "address-limit";

/** A refusal, with the reading it is told with and the instant from which on a request has room again. */
export interface Refusal {
  readonly kind: LimitKind;
  readonly reading: WindowReading;
  readonly roomAtMs: number;
}

/** What an account is made of. */
export interface AccountTerms {
  readonly limiters: readonly Limiter[];
  /** Requests that may be in hand at once. */
  readonly slots: number;
  readonly tokensPerMonth: number;
  readonly tokensUsedBefore: number;
}

/** Tokens and the month they were used in. */
export interface TokenCount {
  readonly used: number;
  readonly limit: number;
}

/** What one key has used. Instants are Unix milliseconds. */
export interface Account {
  readonly limiters: readonly Limiter[];
  readings(nowMs: number): readonly WindowReading[];
  /** The limiter without room, if there is one; where several refuse, the one that refuses longest. */
  refusing(nowMs: number): Limiter | undefined;
  count(nowMs: number): void;
  uncount(countedAtMs: number, nowMs: number): void;
  hasSlot(): boolean;
  takeSlot(): void;
  giveSlotBack(): void;
  tokens(nowMs: number): TokenCount;
  useTokens(count: number, nowMs: number): void;
}

/** The start of the month (UTC) that `nowMs` lies in. */
export function monthStartMs(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}

/** The start of the month (UTC) after the one that `nowMs` lies in. */
export function nextMonthMs(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

/** An account with nothing counted yet; `sinceMs` lies in the month of `tokensUsedBefore`. */
export function account(terms: AccountTerms, sinceMs: number): Account {
  const { limiters, slots } = terms;
  let inHand = 0;
  let month = monthStartMs(sinceMs);
  let tokensUsed = terms.tokensUsedBefore;
  const turnMonth = (nowMs: number) => {
    const current = monthStartMs(nowMs);
    if (current === month) return;
    month = current;
    tokensUsed = 0;
  };
  return {
    limiters,
    readings: (nowMs) => limiters.map((limiter) => limiter.reading(nowMs)),
    refusing: (nowMs) => longestRefusing(limiters, nowMs),
    count: (nowMs) => limiters.forEach((limiter) => limiter.count(nowMs)),
    uncount: (countedAtMs, nowMs) => limiters.forEach((limiter) => limiter.uncount(countedAtMs, nowMs)),
    hasSlot: () => inHand < slots,
    takeSlot: () => void (inHand += 1),
    giveSlotBack: () => void (inHand -= 1),
    tokens: (nowMs) => {
      turnMonth(nowMs);
      return { used: tokensUsed, limit: terms.tokensPerMonth };
    },
    useTokens: (count, nowMs) => {
      turnMonth(nowMs);
      tokensUsed += count;
    },
  };
}

function longestRefusing(limiters: readonly Limiter[], nowMs: number): Limiter | undefined {
  let found: Limiter | undefined;
  for (const limiter of limiters) {
    if (limiter.room(nowMs)) continue;
    if (found === undefined || limiter.roomAtMs(nowMs) > found.roomAtMs(nowMs)) found = limiter;
  }
  return found;
}
