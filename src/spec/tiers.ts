/** Published limits of a tier. Source: Limits, "Request rate (per API key)" and "Token quota per month". */
export interface TierLimits {
  readonly perHour: number;
  readonly perMinute: number;
  readonly concurrent: number;
  /** Requests of the burst allowance; `null` if the document does not show it. */
  readonly burst: number | null;
  /** Tokens that a key may use in a month; `null` if each customer has a number of its own. */
  readonly tokensPerMonth: number | null;
}

/** The tiers with published numbers. Those of `enterprise` are agreed with each customer. */
export const publishedTiers = {
  free: { perHour: 100, perMinute: 10, concurrent: 2, burst: 10, tokensPerMonth: 100_000 },
  pro: { perHour: 1000, perMinute: 100, concurrent: 10, burst: 100, tokensPerMonth: 2_000_000 },
  team: { perHour: 5000, perMinute: 500, concurrent: 25, burst: null, tokensPerMonth: 10_000_000 },
} as const satisfies Record<string, TierLimits>;

export type PublishedTier = keyof typeof publishedTiers;

export const publishedTierNames = Object.keys(publishedTiers) as readonly PublishedTier[];

/** The tier whose numbers are agreed with each customer. */
export const customTier = "enterprise";

export type TierName = PublishedTier | typeof customTier;

/** The name of every tier in the document. */
export const tierNames: readonly TierName[] = [...publishedTierNames, customTier];
