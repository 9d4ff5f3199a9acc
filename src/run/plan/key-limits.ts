import { type PublishedTier, publishedTierNames, publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";

/** The limits of a key. `null` if the key's tier is unknown, or if nothing is known about the limits of that tier. */
export function limitsOf(key: TargetKey, target: Target): TierLimits | null {
  if (key.tier === null) return null;
  const published: Readonly<Record<string, TierLimits>> = publishedTiers;
  const ofTier = target.tiers[key.tier] ?? published[key.tier] ?? null;
  return ofTier === null || key.tokensPerMonth === null ? ofTier : { ...ofTier, tokensPerMonth: key.tokensPerMonth };
}

/**
 * A rate-limit window as response headers report it. `resetAfter` is in seconds and `date` in Unix seconds. Both are
 * `null` if their header is absent.
 */
export interface ReportedWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfter: number | null;
  readonly date: number | null;
}

/**
 * Finds the published tier that has a window of `limit` requests. If it is the hour of one tier and the minute of
 * another, the time to the reset decides. Returns `null` for an unknown number, or if both remain possible.
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
 * Whether a window of 100 requests may be the hour of the free tier rather than the minute of the pro tier. In the last
 * minute of an hour, both are reset in less than 60 s.
 */
function mayBeFreeHour({ limit, remaining, date }: ReportedWindow): boolean {
  const isLastMinute = date === null || date % 3600 >= 3600 - 61;
  return isLastMinute || remaining < limit - 10;
}
