import { sumOf } from "../../base/numbers.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
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
import {
  type CreatedObjects,
  executionsOf,
  type Stage,
  type Probe,
  requestsOf,
  type WaitOptions,
} from "../../run/probe.ts";
import { publishedTierNames, publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";

export interface PlanRow {
  readonly probe: string;
  readonly stage: Stage;
  /** The tier that the probe tests. `null` for a probe that runs once per target, not once per tier. */
  readonly tier: string | null;
  /** Names of the keys that the probe uses. The plan attributes all of the probe's requests to the first key. */
  readonly keys: readonly [string, ...string[]];
  readonly requests: number;
  /**
   * Estimated number of agent executions. Assumes that probes can use up limits with `GET /usage`, which executes no
   * agent.
   */
  readonly executions: number;
  readonly waitSeconds: number;
  readonly creates: CreatedObjects;
  readonly checks: readonly string[];
}

export function planRowOf(
  { probe, tested }: PlannedProbe,
  { target, main, checks }: { target: Target; main: TargetKey; checks: readonly string[] },
): PlanRow {
  return {
    probe: probe.name,
    stage: probe.stage,
    tier: tested?.tier ?? null,
    keys: keyNames(probe, tested, { target, main }),
    ...costOfProbe(probe, tested, target),
    executions: executionsOf(probe, tested, target),
    creates: hasFewRequests(target) ? probe.createsFew : probe.creates,
    checks,
  };
}

export function firstKeyOfProbe(
  probe: Probe,
  { target, main }: { readonly target: Target; readonly main: TargetKey },
): TargetKey {
  const [own] = probe.per === "target" ? (probe.keys?.(target) ?? []) : [];
  return own ?? main;
}

function keyNames(
  probe: Probe,
  tested: TierUnderTest | null,
  parts: { readonly target: Target; readonly main: TargetKey },
): PlanRow["keys"] {
  const [, ...others] = probe.per === "target" ? (probe.keys?.(parts.target) ?? []) : [];
  const needed = probe.needs.flatMap((need) => keyNamesForNeed(need, parts.target));
  return [tested?.key.name ?? firstKeyOfProbe(probe, parts).name, ...others.map(({ name }) => name), ...needed];
}

function keyNamesForNeed(need: Need, target: Target): string[] {
  const key = isKeyNeed(need) ? resolveKey(need, target) : null;
  return key === null ? [] : [key.name];
}

type ProbeCost = Pick<PlanRow, "requests" | "waitSeconds">;

function costOfProbe(probe: Probe, tested: TierUnderTest | null, target: Target): ProbeCost {
  const requests = requestsOf(probe, tested, target);
  if (probe.per === "target") return { requests, waitSeconds: longestWaitSeconds(probe.waits, target) };
  if (tested === null) throw new Error(`the probe "${probe.name}" was planned without a tier`);
  return { requests, waitSeconds: probe.waitSeconds(tested) };
}

const longestWaitSeconds = (waits: WaitOptions | undefined, target: Target): number => {
  if (waits === undefined || target.clock !== null) return 0;
  return typeof waits.seconds === "number" ? waits.seconds : waits.seconds(target);
};

const totalCost = (costs: readonly ProbeCost[]): ProbeCost => ({
  requests: sumOf(costs.map(({ requests }) => requests)),
  waitSeconds: Math.ceil(sumOf(costs.map(({ waitSeconds }) => waitSeconds))),
});

export interface TierCost extends ProbeCost {
  readonly tier: string;
}

export function tierCosts(probes: readonly Probe[], target: Target): TierCost[] {
  const main = mainKey(target);
  const perTier = probes.filter(({ per }) => per === "tier");
  if (main === null || perTier.length === 0) return [];
  return publishedTierNames.flatMap((tier): TierCost[] => {
    const [tested] = tiersUnderTest({ ...target, keys: { [main.name]: { ...main, tier } } });
    if (tested === undefined) return [];
    return [{ tier, ...totalCost(perTier.map((probe) => costOfProbe(probe, tested, target))) }];
  });
}

export interface KeyRow {
  readonly key: string;
  readonly tier: string | null;
  /** Whether the key's rate limits are known. If not, the run stays below the limits of the free tier. */
  readonly isTierKnown: boolean;
  readonly requests: number;
  /** Estimated wait of the key in seconds: for new minute windows, and within its probes. Zero with a test clock. */
  readonly waitSeconds: number;
}

/** Returns a row for each key. `discovery` has the numbers of requests before the first probe, by the key's name. */
export function keyRows(rows: readonly PlanRow[], discovery: ReadonlyMap<string, number>, target: Target): KeyRow[] {
  const byKey = Map.groupBy(rows, ({ keys: [first] }) => first);
  return [...new Set([...discovery.keys(), ...byKey.keys()])].flatMap((name): KeyRow[] => {
    const key = target.keys[name];
    if (key === undefined) return [];
    const used = byKey.get(name) ?? [];
    const limits = limitsOf(key, target);
    const discoveryRequests = discovery.get(name) ?? 0;
    const { requests, waitSeconds } = totalCost(used);
    const paced = discoveryRequests + totalCost(used.filter(({ tier }) => tier === null)).requests;
    const pacingSeconds = pacingDelaySeconds(paced, limits ?? publishedTiers.free);
    return [
      {
        key: name,
        tier: key.tier,
        isTierKnown: limits !== null,
        requests: discoveryRequests + requests,
        waitSeconds: target.clock === null ? pacingSeconds + waitSeconds : 0,
      },
    ];
  });
}

/** Length of a minute window, plus one second, because rate-limit headers show whole seconds. */
const minuteWindowSeconds = 61;

const pacingDelaySeconds = (requests: number, { perMinute }: TierLimits): number =>
  Math.max(0, Math.ceil(requests / perMinute) - 1) * minuteWindowSeconds;
