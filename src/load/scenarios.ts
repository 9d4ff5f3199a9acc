import { scenarios } from "../../scenarios/all.ts";
import type { Scenario } from "../../scenarios/scenario.ts";
import { customTier, publishedTierNames, publishedTiers, type TierName, tierNames } from "../spec/tiers.ts";

// In src, import scenarios from this module. Only tests and files for k6 import from the folder `scenarios`.

export { scenarios } from "../../scenarios/all.ts";
export { atSpeed, earlyRetrySeconds, lateRetrySeconds, requestCount } from "../../scenarios/scenario.ts";
export type { EngineName, Flow, KeyRole, Operation, Scenario, TrafficShape } from "../../scenarios/scenario.ts";

export const scenarioNamed = (name: string): Scenario | undefined =>
  scenarios.find((scenario) => scenario.name === name);

export function scenarioTiers({ tiers }: Scenario): readonly TierName[] {
  if (tiers === "all") return tierNames;
  if (tiers === "published") return publishedTierNames;
  if (tiers === "with burst")
    return [...publishedTierNames.filter((tier) => publishedTiers[tier].burst !== null), customTier];
  return tiers;
}
