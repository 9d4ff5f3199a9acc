import { is2xx } from "../../base/http-status.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { usageCountIn } from "../../rules/limits/usage-report.ts";
import { type PublishedTier, publishedTierNames, publishedTiers } from "../../spec/tiers.ts";
import { type Target, type TargetKey, usableKeys, withDetectedTier } from "../../target/target.ts";
import { tierOfWindow } from "../plan/key-limits.ts";
import { SkipError } from "../skip-reason.ts";
import type { Client } from "../send/client.ts";

export function keysOfUnknownTier(target: Target, main: TargetKey): TargetKey[] {
  const unknown = usableKeys(target).filter(({ tier, key }) => tier === null && key !== main.key);
  return unknown.filter(({ key }, index) => unknown.findIndex((other) => other.key === key) === index);
}

export async function withDetectedTiers(client: Client, target: Target, signal: AbortSignal): Promise<Target> {
  let known = target;
  try {
    for (const key of keysOfUnknownTier(target, client.key)) {
      const tier = tierInUsageResponse(await client.since("1.1").as(key).send("GET", "/usage"), target);
      for (const { name } of Object.values(target.keys).filter((each) => each.key === key.key))
        known = withDetectedTier(known, name, tier);
    }
  } catch (error) {
    if (!(signal.aborted || error instanceof SkipError)) throw error;
  }
  return known;
}

/** Finds the published tier that a response to `GET /usage` shows; `null` in doubt. */
export function tierInUsageResponse(exchange: Exchange, { tiers }: Pick<Target, "tiers">): PublishedTier | null {
  const { limit, remaining, resetAfter, date } = sampleOf(exchange);
  if (!is2xx(statusOf(exchange)) || limit === null || remaining === null) return null;
  const tier = tierOfWindow({ limit, remaining, resetAfter, date });
  const isOfOwnTier = Object.values(tiers).some(({ perHour, perMinute, burst }) =>
    [perHour, perMinute, perMinute + (burst ?? 0)].includes(limit),
  );
  if (tier === null || isOfOwnTier) return null;
  const quota = usageCountIn(bodyJson(exchange), "tokens")?.limit ?? null;
  const isConfirmed = quota === publishedTiers[tier].tokensPerMonth;
  const isAmbiguous = publishedTierNames.some((other) => other !== tier && hasWindowOf(other, limit));
  return isConfirmed || (quota === null && !isAmbiguous) ? tier : null;
}

const hasWindowOf = (tier: PublishedTier, limit: number): boolean =>
  publishedTiers[tier].perHour === limit || publishedTiers[tier].perMinute === limit;
