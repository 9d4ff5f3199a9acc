import {
  hasFewRequests,
  isKeyNeed,
  resolveKey,
  mainKey,
  type Need,
  tiersUnderTest,
  type TierUnderTest,
} from "../../run/plan/needs.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import { type Creations, executionsOf, type Stage, type Probe, requestsOf, type WaitOptions } from "../../run/probe.ts";
import { publishedTierNames } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";

/** A probe that would run. */
export interface PlanRow {
  readonly probe: string;
  readonly stage: Stage;
  /** Tier that it runs for; `null` for a probe that runs once. */
  readonly tier: string | null;
  /** Names of the keys that it sends with; `requests` count against the first. */
  readonly keys: readonly [string, ...string[]];
  readonly requests: number;
  /** How often it has an agent run, about, where reading usage draws on the allowance. */
  readonly executions: number;
  /** Longest time that it lets pass, in seconds, on the target's clock. */
  readonly waitSeconds: number;
  readonly creates: Creations;
  /** Ids of the checks that rest on it. */
  readonly checks: readonly string[];
}

export function rowOf(
  { probe, tested }: PlannedProbe,
  { target, main, checks }: { target: Target; main: TargetKey; checks: readonly string[] },
): PlanRow {
  return {
    probe: probe.name,
    stage: probe.stage,
    tier: tested?.tier ?? null,
    keys: [tested?.key.name ?? main.name, ...probe.needs.flatMap((need) => keyNamed(need, target))],
    ...costOf(probe, tested, target),
    executions: executionsOf(probe, tested, target),
    creates: hasFewRequests(target) ? probe.createsFew : probe.creates,
    checks,
  };
}

function keyNamed(need: Need, target: Target): string[] {
  const key = isKeyNeed(need) ? resolveKey(need, target) : null;
  return key === null ? [] : [key.name];
}

type Cost = Pick<PlanRow, "requests" | "waitSeconds">;

function costOf(probe: Probe, tested: TierUnderTest | null, target: Target): Cost {
  const requests = requestsOf(probe, tested, target);
  if (probe.per === "target") return { requests, waitSeconds: longestWait(probe.waits, target) };
  if (tested === null) throw new Error(`the probe "${probe.name}" was planned without a tier`);
  return { requests, waitSeconds: probe.waitSeconds(tested) };
}

const longestWait = (waits: WaitOptions | null, target: Target): number => {
  if (waits === null || target.clock !== null) return 0;
  return typeof waits.seconds === "number" ? waits.seconds : waits.seconds(target);
};

/** What the probes that test a tier's limits would add. */
export interface TierCost extends Cost {
  readonly tier: string;
}

/** The cost of each published tier, where the headers of the main key may come to show it. */
export function tierCosts(probes: readonly Probe[], target: Target): TierCost[] {
  const main = mainKey(target);
  const perTier = probes.filter(({ per }) => per === "tier");
  if (main === null || perTier.length === 0) return [];
  return publishedTierNames.flatMap((tier): TierCost[] => {
    const [tested] = tiersUnderTest({ ...target, keys: { [main.name]: { ...main, tier } } });
    if (tested === undefined) return [];
    const costs = perTier.map((probe) => costOf(probe, tested, target));
    const sum = (of: keyof Cost): number => costs.reduce((total, cost) => total + cost[of], 0);
    return [{ tier, requests: sum("requests"), waitSeconds: Math.ceil(sum("waitSeconds")) }];
  });
}
