import { type PublishedTier, publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";

/** The numbers of a key's tier; `null` where the tier, or its numbers, are not known. */
export function limitsOf(key: TargetKey, target: Target): TierLimits | null {
  if (key.tier === null) return null;
  const published: Readonly<Record<string, TierLimits>> = publishedTiers;
  const ofTier = target.tiers[key.tier] ?? published[key.tier] ?? null;
  return ofTier === null || key.tokensPerMonth === null ? ofTier : { ...ofTier, tokensPerMonth: key.tokensPerMonth };
}

/** What an answer's headers say of a rate-limit window. Seconds; `date` in Unix seconds, `null` where the answer had none. */
export interface ReportedWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfter: number;
  readonly date: number | null;
}

/** The published tier whose window this is; `null` where none has it, or it could be one of several. */
export function tierOfWindow(shown: ReportedWindow): PublishedTier | null {
  const isMinute = shown.resetAfter <= 60;
  if (shown.limit === publishedTiers.free.perHour && isMinute) return mayBeFreeHour(shown) ? null : "pro";
  const tiers = Object.entries(publishedTiers) as [PublishedTier, TierLimits][];
  const window = isMinute ? "perMinute" : "perHour";
  const found =
    tiers.find(([, limits]) => limits[window] === shown.limit) ??
    tiers.find(([, limits]) => limits.perHour === shown.limit);
  return found?.[0] ?? null;
}

/** 100 is free's hour and pro's minute: with a minute left it is the hour only near that hour's end, or on a key that was used. */
function mayBeFreeHour({ limit, remaining, date }: ReportedWindow): boolean {
  const isLastMinute = date === null || date % 3600 >= 3600 - 61;
  return isLastMinute || remaining < limit - 10;
}
