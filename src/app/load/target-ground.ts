import { minuteOverMs } from "../../limits/key-use.ts";
import { performance } from "node:perf_hooks";

import type { KeyRole } from "../../../scenarios/scenario.ts";
import { type TierLimits, type TierName, tierNames } from "../../interface/tiers.ts";
import { type Ground, lackOfNeeds, type Stage } from "../../load/conduct.ts";
import type { LoadTrial } from "../../load/conduct-trials.ts";
import { ofLoad, type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { limitsOf } from "../../run/tier-of.ts";
import { playerOf, rolesOf, type Target, type TargetKey, usableKeys } from "../../target/target.ts";

/** A tier of a target: its numbers, and the keys that load is sent with. */
export interface TierGround {
  readonly tier: TierName;
  readonly limits: TierLimits;
  readonly main: TargetKey;
  /** `null` where there is one key only. */
  readonly second: TargetKey | null;
}

export interface TargetGround extends Ground {
  readonly close: () => Promise<void>;
}

const deliveriesWithinMs = 30_000;

/** Tiers that the target has usable keys of, and the numbers of. A tier of the target's own counts as enterprise: a custom one. */
export function tiersOfTarget(target: Target): TierGround[] {
  const byTier = Map.groupBy(usableKeys(target), ({ tier }) => tier);
  return [...byTier].flatMap(([name, [main, second = null]]): TierGround[] => {
    const limits = main === undefined ? null : limitsOf(main, target);
    if (name === null || main === undefined || limits === null) return [];
    return [{ tier: tierNames.find((each) => each === name) ?? "enterprise", limits, main, second }];
  });
}

/**
 * A target that somebody runs, on its own clock, with the keys that it was given.
 *
 * @param used by names of keys when requests were last sent with them, by `performance.now()`: those are still in the windows of the keys, which
 *   rest as between two loads, and are not fresh
 */
export function openTargetGround(target: Target, used: ReadonlyMap<string, number>): TargetGround {
  const tiers = new Map(tiersOfTarget(target).map((each) => [each.tier, each]));
  const lastUsedMs = new Map(used);
  let receiver: Promise<Receiver> | null = null;
  const keysOf = (trial: LoadTrial): readonly TargetKey[] => {
    const { main, second } = tiers.get(trial.tier) ?? { main: null, second: null };
    const roles = new Set<KeyRole>(trial.scenario.flows(publishedOr(tiers, trial.tier)).map(({ key }) => key));
    return [main, roles.has("second") ? second : null].filter((key) => key !== null);
  };

  const open = async (trial: LoadTrial): Promise<Stage> => {
    const found = tiers.get(trial.tier);
    if (found === undefined) throw new Error(`there is no key of the ${trial.tier} tier`);
    const { limits, main, second } = found;
    const keys = keysOf(trial);
    const isFresh = keys.every(({ fresh, name }) => fresh && !lastUsedMs.has(name));
    const needsReceiver = trial.scenario.needs.includes("receiver");
    return {
      parts: {
        baseUrl: target.baseUrl,
        keys: { main: main.key, second: second?.key ?? null },
        tier: trial.tier,
        limits,
        isFresh,
        agents: agentsOf(target),
        players: target.players,
        speed: 1,
        network: target.network,
      },
      surroundings: {
        receiver: needsReceiver ? await (receiver ??= listenFor(target)) : null,
        rssBytes: null,
        deliveriesWithinMs,
      },
      end: async () => {
        for (const { name } of keys) lastUsedMs.set(name, performance.now());
      },
    };
  };

  return {
    lack: (trial) => {
      const found = tiers.get(trial.tier);
      return lackOfNeeds(trial, {
        agents: agentsOf(target),
        keys: { main: found?.main ?? null, second: found?.second ?? null },
        hasReceiver: target.webhooks !== null,
      });
    },
    restMs: (trial) => {
      const lastMs = Math.max(...keysOf(trial).map(({ name }) => lastUsedMs.get(name) ?? -Infinity));
      return lastMs + minuteOverMs - performance.now();
    },
    open,
    close: async () => {
      await (await receiver)?.close();
    },
  };
}

const publishedOr = (tiers: ReadonlyMap<TierName, TierGround>, tier: TierName): TierLimits =>
  tiers.get(tier)?.limits ?? { perHour: 1, perMinute: 1, concurrent: 1, burst: 1, tokensPerMonth: null };

/** The target's agents by what load needs them for; one that answers streams as well. */
export const agentsOf = (target: Target): Stage["parts"]["agents"] => ({
  answering: target.agents.answering ?? null,
  streaming: target.agents.streaming ?? target.agents.answering ?? null,
  slow: playerOf(target, "slow")?.agent ?? null,
  slowStreaming: playerOf(target, "slowStreaming")?.agent ?? null,
  failing: playerOf(target, "failing")?.agent ?? null,
});

const listenFor = ({ webhooks, network }: Target): Promise<Receiver> =>
  startReceiver({
    listen: webhooks?.listen ?? "127.0.0.1:0",
    publicUrl: webhooks?.publicUrl ?? null,
    network,
    time: { now: () => performance.now(), clockMs: () => 0, clockAtMostMs: () => 0 },
    most: ofLoad,
  });

/** Which agent played which role, as a load report names it; nothing of the embedded server. */
export const rolesIn = (target: Target | null): { readonly roles?: Readonly<Record<string, string>> } =>
  target === null ? {} : { roles: rolesOf(target) };
