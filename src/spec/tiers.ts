/** Limits of a tier. Source: Limits, "Request rate (per API key)" and "Token quota per month". */
export interface TierLimits {
  readonly perHour: number;
  readonly perMinute: number;
  readonly concurrent: number;
  /** Size of the burst allowance in requests; `null` if the document does not publish the size. */
  readonly burst: number | null;
  /** `null` if the number is agreed with each customer. */
  readonly tokensPerMonth: number | null;
}

/**
 * Each burst is the limit per minute, or not published: no probe was proven with another. No two tiers have the same
 * limit per hour or per minute, because runs detect a key's tier by `X-RateLimit-Limit`.
 */
export const publishedTiers = {
  free: { perHour: 100, perMinute: 10, concurrent: 2, burst: 10, tokensPerMonth: 100_000 },
  pro: { perHour: 1000, perMinute: 100, concurrent: 10, burst: 100, tokensPerMonth: 2_000_000 },
  team: { perHour: 5000, perMinute: 500, concurrent: 25, burst: null, tokensPerMonth: 10_000_000 },
} as const satisfies Record<string, TierLimits>;

export type PublishedTier = keyof typeof publishedTiers;

export const publishedTierNames = Object.keys(publishedTiers) as readonly PublishedTier[];

export const customTier = "enterprise";

export type TierName = PublishedTier | typeof customTier;

export const tierNames: readonly TierName[] = [...publishedTierNames, customTier];
