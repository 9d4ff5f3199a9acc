import { type PublishedTier, publishedTierNames, publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";

/** The limits of a key. `null` if its tier, or the tier's limits, are unknown. */
export function limitsOf(key: TargetKey, target: Target): TierLimits | null {
  if (key.tier === null) return null;
  const published: Readonly<Record<string, TierLimits>> = publishedTiers;
  const ofTier = target.tiers[key.tier] ?? published[key.tier] ?? null;
  return ofTier === null || key.tokensPerMonth === null ? ofTier : { ...ofTier, tokensPerMonth: key.tokensPerMonth };
}

/**
 * A rate-limit window as reported by response headers. `resetAfter` is in seconds, `date` in Unix seconds; `null`
 * without that header.
 */
export interface ReportedWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfter: number | null;
  readonly date: number | null;
}

/**
 * Finds the published tier with this window. If two tiers share the number, the window's duration decides. Returns
 * `null` for an unknown number, or if both remain possible.
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
 * Whether the window can be the hour of the free tier, which has 100 requests like the minute of pro. Within the last
 * minute of an hour, the two look the same.
 */
function mayBeFreeHour({ limit, remaining, date }: ReportedWindow): boolean {
  const isLastMinute = date === null || date % 3600 >= 3600 - 61;
  return isLastMinute || remaining < limit - 10;
}
