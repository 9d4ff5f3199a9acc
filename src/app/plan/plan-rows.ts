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

/** A row of the plan, about a probe that the run would start. */
export interface PlanRow {
  readonly probe: string;
  readonly stage: Stage;
  /** The tier that the probe tests; `null` if the probe does not run once for each tier. */
  readonly tier: string | null;
  /** Names of the keys that send the probe's requests. The plan counts the requests for the first key. */
  readonly keys: readonly [string, ...string[]];
  readonly requests: number;
  /**
   * Estimated number of agent executions. It assumes that usage requests count against the limits. Otherwise the run exhausts limits with
   * invokes, which execute agents.
   */
  readonly executions: number;
  /** Longest wait of the probe, in seconds. */
  readonly waitSeconds: number;
  readonly creates: CreatedObjects;
  /** Ids of the checks that use the probe. */
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
    keys: keyNames(probe, tested, { target, main }),
    ...costOf(probe, tested, target),
    executions: executionsOf(probe, tested, target),
    creates: hasFewRequests(target) ? probe.createsFew : probe.creates,
    checks,
  };
}

/** Returns the key that sends most requests of a probe. Does not apply to a probe that runs once for each tier. */
export function keyOf(
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
  const needed = probe.needs.flatMap((need) => keyNamed(need, parts.target));
  return [tested?.key.name ?? keyOf(probe, parts).name, ...others.map(({ name }) => name), ...needed];
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

const longestWait = (waits: WaitOptions | undefined, target: Target): number => {
  if (waits === undefined || target.clock !== null) return 0;
  return typeof waits.seconds === "number" ? waits.seconds : waits.seconds(target);
};

/** Additional cost of testing the limits of a tier, if the main key turns out to have that tier. */
export interface TierCost extends Cost {
  readonly tier: string;
}

/** Returns what testing the limits of each published tier would cost. Needed if only the run can find out the tier of the main key. */
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

/** A row of the plan, about a key: the requests that the run would send with it, and its waits. */
export interface KeyRow {
  readonly key: string;
  readonly tier: string | null;
  /** Whether the limits of the key's tier are known. If not, the run stays below the limits of the free tier. */
  readonly isTierKnown: boolean;
  readonly requests: number;
  /** Longest total wait of the key, for pacing and for windows to end, in seconds. 0 if the target has a test clock. */
  readonly waitSeconds: number;
}

/**
 * Adds up the requests and waits of each key.
 *
 * @param discovery the requests of discovery, and the key that sends them
 */
export function keyRows(
  rows: readonly PlanRow[],
  discovery: { readonly key: string; readonly requests: number },
  target: Target,
): KeyRow[] {
  const byKey = Map.groupBy(rows, ({ keys: [first] }) => first);
  return [...new Set([discovery.key, ...byKey.keys()])].flatMap((name): KeyRow[] => {
    const key = target.keys[name];
    if (key === undefined) return [];
    const used = byKey.get(name) ?? [];
    const limits = limitsOf(key, target);
    const first = name === discovery.key ? discovery.requests : 0;
    const paced = first + sumOf(used.filter(({ tier }) => tier === null));
    const waitSeconds = pacingDelaySeconds(paced, limits ?? publishedTiers.free) + longestWaits(used);
    return [
      {
        key: name,
        tier: key.tier,
        isTierKnown: limits !== null,
        requests: first + sumOf(used),
        waitSeconds: target.clock === null ? waitSeconds : 0,
      },
    ];
  });
}

const sumOf = (rows: readonly PlanRow[]): number => rows.reduce((sum, { requests }) => sum + requests, 0);

/** Longest time until a minute window has passed: a minute, and one second because rate-limit headers show whole seconds. */
const minuteSeconds = 61;

/** Returns how many seconds the pacer delays this many requests in total, to stay below the minute limit. */
const pacingDelaySeconds = (requests: number, { perMinute }: TierLimits): number =>
  Math.max(0, Math.ceil(requests / perMinute) - 1) * minuteSeconds;

const longestWaits = (rows: readonly PlanRow[]): number =>
  Math.ceil(rows.reduce((sum, { waitSeconds }) => sum + waitSeconds, 0));
