import { type PublishedTier, publishedTierNames, publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";

/**
 * Returns the limits of a key's tier: those in the target file, or else the published limits; `null` if unknown. A
 * `tokensPerMonth` of the key itself replaces the tier's.
 */
export function limitsOf(key: TargetKey, target: Target): TierLimits | null {
  if (key.tier === null) return null;
  const published: Readonly<Record<string, TierLimits>> = publishedTiers;
  const ofTier = target.tiers[key.tier] ?? published[key.tier] ?? null;
  return ofTier === null || key.tokensPerMonth === null ? ofTier : { ...ofTier, tokensPerMonth: key.tokensPerMonth };
}

/** A rate-limit window as headers report it: `resetAfter` in seconds, `date` in Unix seconds. */
export interface ReportedWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfter: number | null;
  readonly date: number | null;
}

/**
 * Returns the published tier whose limit per minute or hour equals the reported limit. 100 fits two tiers: `free` per
 * hour and `pro` per minute. Returns `null` if the other values do not tell these apart, or if no tier matches.
 */
export function tierOfWindow(reported: ReportedWindow): PublishedTier | null {
  const { limit, resetAfter } = reported;
  const tierWith = (window: "perHour" | "perMinute"): PublishedTier | null =>
    publishedTierNames.find((tier) => publishedTiers[tier][window] === limit) ?? null;
  const [byHour, byMinute] = [tierWith("perHour"), tierWith("perMinute")];
  if (byHour === null || byMinute === null) return byHour ?? byMinute;
  if (resetAfter === null) return null;
  if (resetAfter > 60) return byHour;
  return mayBeFreeHour(reported) ? null : byMinute;
}

/**
 * Whether a limit of 100 that resets within 60 s may be `free` per hour, not `pro` per minute. Such an hour began
 * before the run: a clock hour is ending, or earlier requests used more than 10 of the 100.
 */
function mayBeFreeHour({ limit, remaining, date }: ReportedWindow): boolean {
  const isLastMinute = date === null || date % 3600 >= 3600 - 61;
  return isLastMinute || remaining < limit - 10;
}
