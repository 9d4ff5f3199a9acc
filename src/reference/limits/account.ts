import type { Limiter, WindowStatus } from "./windows.ts";

/** Which limit said no. */
export type LimitKind = "request-limit" | "concurrency-limit" | "token-quota" | "address-limit";

/** A refusal, with the reading it is told with and the instant from which on a request has room again. */
export interface Refusal {
  readonly kind: LimitKind;
  readonly window: WindowStatus;
  readonly roomAtMs: number;
}

/** What the accounts of a tier have in common. */
export interface AccountTerms {
  /** Requests that may be in hand at once. */
  readonly slots: number;
  readonly tokensPerMonth: number;
}

/** Tokens and the month they were used in. */
export interface TokenCount {
  readonly used: number;
  readonly limit: number;
}

/** What one key has used. Instants are Unix milliseconds. */
export interface Account {
  readonly limiters: readonly Limiter[];
  windows(nowMs: number): readonly WindowStatus[];
  /** The limiter without room, if there is one; where several refuse, the one that refuses longest. */
  exhaustedLimiter(nowMs: number): Limiter | undefined;
  count(nowMs: number): void;
  uncount(countedAtMs: number, nowMs: number): void;
  hasSlot(): boolean;
  takeSlot(): void;
  giveSlotBack(): void;
  tokens(nowMs: number): TokenCount;
  useTokens(count: number, nowMs: number): void;
}

/** A month of UTC. */
interface Month {
  /** Goes up by one with each. */
  readonly number: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Nearly always the same one is asked for again. */
let lastAsked: Month = { number: 0, fromMs: Infinity, toMs: -Infinity };

function monthAt(nowMs: number): Month {
  if (nowMs >= lastAsked.fromMs && nowMs < lastAsked.toMs) return lastAsked;
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  lastAsked = { number: year * 12 + month, fromMs: Date.UTC(year, month, 1), toMs: Date.UTC(year, month + 1, 1) };
  return lastAsked;
}

/** The start of the month (UTC) that `nowMs` lies in. */
export const monthStartMs = (nowMs: number): number => monthAt(nowMs).fromMs;

/** The start of the month (UTC) after the one that `nowMs` lies in. */
export const nextMonthMs = (nowMs: number): number => monthAt(nowMs).toMs;

/**
 * An account with nothing counted yet; `sinceMs` lies in the month of `tokensUsedBefore`. A server holds one for each key, and may have a million
 * of those: so it is a class, and the two limiters that nearly all have stand in it without a list of their own.
 */
export function account(
  limiters: readonly Limiter[],
  terms: AccountTerms,
  tokensUsedBefore: number,
  sinceMs: number,
): Account {
  const [one, other, ...more] = limiters;
  return one === undefined || other === undefined || more.length > 0
    ? new AccountOfMany(limiters, terms, tokensUsedBefore, sinceMs)
    : new AccountOfTwo(one, other, terms, tokensUsedBefore, sinceMs);
}

abstract class Counts implements Account {
  abstract readonly limiters: readonly Limiter[];
  private readonly terms: AccountTerms;
  private inHand = 0;
  private month: number;
  private tokensUsed: number;

  constructor(terms: AccountTerms, tokensUsedBefore: number, sinceMs: number) {
    this.terms = terms;
    this.month = monthAt(sinceMs).number;
    this.tokensUsed = tokensUsedBefore;
  }

  windows(nowMs: number): readonly WindowStatus[] {
    return this.limiters.map((limiter) => limiter.status(nowMs));
  }

  exhaustedLimiter(nowMs: number): Limiter | undefined {
    return longestRefusing(this.limiters, nowMs);
  }

  count(nowMs: number): void {
    for (const limiter of this.limiters) limiter.count(nowMs);
  }

  uncount(countedAtMs: number, nowMs: number): void {
    for (const limiter of this.limiters) limiter.uncount(countedAtMs, nowMs);
  }

  hasSlot(): boolean {
    return this.inHand < this.terms.slots;
  }

  takeSlot(): void {
    this.inHand += 1;
  }

  giveSlotBack(): void {
    this.inHand -= 1;
  }

  tokens(nowMs: number): TokenCount {
    this.turnMonth(nowMs);
    return { used: this.tokensUsed, limit: this.terms.tokensPerMonth };
  }

  useTokens(count: number, nowMs: number): void {
    this.turnMonth(nowMs);
    this.tokensUsed += count;
  }

  private turnMonth(nowMs: number): void {
    const current = monthAt(nowMs).number;
    if (current === this.month) return;
    this.month = current;
    this.tokensUsed = 0;
  }
}

class AccountOfTwo extends Counts {
  private readonly one: Limiter;
  private readonly other: Limiter;

  constructor(one: Limiter, other: Limiter, ...rest: ConstructorParameters<typeof Counts>) {
    super(...rest);
    this.one = one;
    this.other = other;
  }

  get limiters(): readonly Limiter[] {
    return [this.one, this.other];
  }
}

class AccountOfMany extends Counts {
  readonly limiters: readonly Limiter[];

  constructor(limiters: readonly Limiter[], ...rest: ConstructorParameters<typeof Counts>) {
    super(...rest);
    this.limiters = limiters;
  }
}

function longestRefusing(limiters: readonly Limiter[], nowMs: number): Limiter | undefined {
  let found: Limiter | undefined;
  for (const limiter of limiters) {
    if (limiter.hasRoom(nowMs)) continue;
    if (found === undefined || limiter.roomAtMs(nowMs) > found.roomAtMs(nowMs)) found = limiter;
  }
  return found;
}
