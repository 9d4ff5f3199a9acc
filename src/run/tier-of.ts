import { publishedTiers, type TierLimits } from "../interface/tiers.ts";
import type { Target, TargetKey } from "../target/target.ts";

/** The numbers of a key's tier; `null` where the tier, or its numbers, are not known. */
export function limitsOf(key: TargetKey, target: Target): TierLimits | null {
  if (key.tier === null) return null;
  const published: Readonly<Record<string, TierLimits>> = publishedTiers;
  return target.tiers[key.tier] ?? published[key.tier] ?? null;
}

/** The published tier that a rate-limit window of this size belongs to; `null` where none, or more than one, has it. */
export function tierOfWindow(limit: number, resetAfterSeconds: number): keyof typeof publishedTiers | null {
  const isMinute = resetAfterSeconds <= 60;
  for (const [name, limits] of Object.entries(publishedTiers) as [keyof typeof publishedTiers, TierLimits][]) {
    if (limits.perMinute === limit && isMinute && limit !== publishedTiers.free.perHour) return name;
    if (limits.perHour === limit && (!isMinute || limit !== publishedTiers.pro.perMinute)) return name;
  }
  return null;
}
