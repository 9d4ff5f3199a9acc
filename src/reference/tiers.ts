import { publishedTiers, type TierLimits, type TierName } from "../interface/tiers.ts";

/** The numbers the server applies to each tier; the document leaves Enterprise to be agreed, so these are this server's own. */
export type TierTable = Readonly<Record<TierName, TierLimits>>;

export const referenceTiers: TierTable = {
  ...publishedTiers,
  enterprise: { perHour: 600, perMinute: 400, concurrent: 20, burst: 400, tokensPerMonth: 50_000_000 },
};
