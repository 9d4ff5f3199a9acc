import type { Limiter, WindowStatus } from "./windows.ts";

type LimitKind = "request-limit" | "concurrency-limit" | "token-quota" | "address-limit";

export interface Refusal {
  readonly kind: LimitKind;
  readonly window: WindowStatus;
  readonly roomAtMs: number;
}

export interface AccountLimits {
  readonly maxConcurrent: number;
  readonly tokensPerMonth: number;
}

export interface TokenCount {
  readonly used: number;
  readonly limit: number;
}

interface CalendarMonth {
  readonly number: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The last result of `monthAt`, kept because most requests fall into the same month. */
let lastMonth: CalendarMonth = { number: 0, fromMs: Infinity, toMs: -Infinity };

function monthAt(nowMs: number): CalendarMonth {
  if (nowMs >= lastMonth.fromMs && nowMs < lastMonth.toMs) return lastMonth;
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  lastMonth = { number: year * 12 + month, fromMs: Date.UTC(year, month, 1), toMs: Date.UTC(year, month + 1, 1) };
  return lastMonth;
}

export const monthStartMs = (nowMs: number): number => monthAt(nowMs).fromMs;

export const nextMonthMs = (nowMs: number): number => monthAt(nowMs).toMs;

/** Creates an account. `TwoLimiterAccount` has no array, which saves memory: a server may have a million accounts. */
export function createAccount(
  limiters: readonly Limiter[],
  limits: AccountLimits,
  tokensUsedBefore: number,
  startMs: number,
): Account {
  const [first, second, ...more] = limiters;
  return first === undefined || second === undefined || more.length > 0
    ? new ManyLimiterAccount(limiters, limits, tokensUsedBefore, startMs)
    : new TwoLimiterAccount(first, second, limits, tokensUsedBefore, startMs);
}

/** The use of limits by a key, or by an address without a valid key. Times are Unix milliseconds. */
export abstract class Account {
  abstract readonly limiters: readonly Limiter[];
  private readonly limits: AccountLimits;
  private concurrent = 0;
  private month: number;
  private tokensUsed: number;

  constructor(limits: AccountLimits, tokensUsedBefore: number, startMs: number) {
    this.limits = limits;
    this.month = monthAt(startMs).number;
    this.tokensUsed = tokensUsedBefore;
  }

  windows(nowMs: number): readonly WindowStatus[] {
    return this.limiters.map((limiter) => limiter.status(nowMs));
  }

  /**
   * Returns the limiter that refuses the next request; `undefined` if none does. If several do, returns the limiter
   * with the longest wait.
   */
  exhaustedLimiter(nowMs: number): Limiter | undefined {
    let found: Limiter | undefined;
    for (const limiter of this.limiters) {
      if (limiter.hasRoom(nowMs)) continue;
      if (found === undefined || limiter.roomAtMs(nowMs) > found.roomAtMs(nowMs)) found = limiter;
    }
    return found;
  }

  count(nowMs: number): void {
    for (const limiter of this.limiters) limiter.count(nowMs);
  }

  uncount(countedAtMs: number, nowMs: number): void {
    for (const limiter of this.limiters) limiter.uncount(countedAtMs, nowMs);
  }

  hasSlot(): boolean {
    return this.concurrent < this.limits.maxConcurrent;
  }

  takeSlot(): void {
    this.concurrent += 1;
  }

  giveSlotBack(): void {
    this.concurrent -= 1;
  }

  tokens(nowMs: number): TokenCount {
    this.resetOnNewMonth(nowMs);
    return { used: this.tokensUsed, limit: this.limits.tokensPerMonth };
  }

  useTokens(count: number, nowMs: number): void {
    this.resetOnNewMonth(nowMs);
    this.tokensUsed += count;
  }

  private resetOnNewMonth(nowMs: number): void {
    const current = monthAt(nowMs).number;
    if (current === this.month) return;
    this.month = current;
    this.tokensUsed = 0;
  }
}

class TwoLimiterAccount extends Account {
  private readonly first: Limiter;
  private readonly second: Limiter;

  constructor(first: Limiter, second: Limiter, ...rest: ConstructorParameters<typeof Account>) {
    super(...rest);
    this.first = first;
    this.second = second;
  }

  get limiters(): readonly Limiter[] {
    return [this.first, this.second];
  }
}

class ManyLimiterAccount extends Account {
  readonly limiters: readonly Limiter[];

  constructor(limiters: readonly Limiter[], ...rest: ConstructorParameters<typeof Account>) {
    super(...rest);
    this.limiters = limiters;
  }
}
