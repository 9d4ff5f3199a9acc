import { minuteOverMs } from "../../rules/limits/key-history.ts";

import { type TierLimits, type TierName, tierNames } from "../../spec/tiers.ts";
import { missingRequirement, type TrialSetup } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import type { Receiver } from "../../receiver/receiver.ts";
import { type ClosableEnvironment, startLoadReceiver } from "./embedded-environment.ts";
import { announceRun } from "../../run/disturbances/other-runs.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { roleRequestsOf } from "../../target/own-request.ts";
import { roleAssignmentOf, type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import { controlTrialClock } from "./trial-clock.ts";
import { watchForDisturbances } from "./trial-disturbances.ts";

export interface TierKeys {
  readonly tier: TierName;
  readonly limits: TierLimits;
  readonly main: TargetKey;
  readonly second: TargetKey | null;
}

const deliveryTimeoutMs = 30_000;

/** Returns the keys and limits of each tier. Any tier that the interface does not define counts as `enterprise`. */
export function tierKeysOf(target: Target): TierKeys[] {
  const byTier = Map.groupBy(usableKeys(target), ({ tier }) => tier);
  return [...byTier].flatMap(([name, [main, second = null]]): TierKeys[] => {
    const limits = main === undefined ? null : limitsOf(main, target);
    if (name === null || main === undefined || limits === null) return [];
    return [{ tier: tierNames.find((each) => each === name) ?? "enterprise", limits, main, second }];
  });
}

/** Prepares the user's target for load trials. Keys that were used recently rest before a trial. */
export function openTargetEnvironment(target: Target, used: ReadonlyMap<string, number>): ClosableEnvironment {
  const tiers = new Map(tierKeysOf(target).map((each) => [each.tier, each]));
  const lastUsedMs = new Map(used);
  const announced = announceRun(target);
  const clock = target.clock === null ? null : controlTrialClock(target, target.clock);
  const { webhooks } = target;
  let receiver: Promise<Receiver> | null = null;
  const receiverOf = async (trial: LoadTrial): Promise<Receiver | null> =>
    needsReceiver(trial)
      ? (receiver ??= startLoadReceiver(webhooks?.listen ?? "127.0.0.1:0", webhooks?.publicUrl ?? null, target.network))
      : null;
  const keysOf = (trial: LoadTrial): readonly TargetKey[] => keysOfTrial(trial, tiers.get(trial.tier) ?? null);

  const setUp = async (trial: LoadTrial): Promise<TrialSetup> => {
    const found = tiers.get(trial.tier);
    if (found === undefined) throw new Error(`there is no key of the ${trial.tier} tier`);
    const keys = keysOf(trial);
    const isFresh = keys.every(({ fresh, name }) => fresh && !lastUsedMs.has(name));
    if (!isFresh) await clock?.beginMinute();
    const listening = await receiverOf(trial);
    const inStep = (await clock?.keepInStep(found.main)) ?? null;
    // Trials with webhooks ignore a lag of the test clock. The target can confirm an advance late, after its
    // deliveries.
    const mayLag = needsReceiver(trial);
    const betweenTrials = clock?.betweenTrials ?? null;
    const watch = watchForDisturbances({ target, keys, announced, clock: betweenTrials, inStep, mayLag });
    return {
      target: engineTargetOf(target, found, isFresh),
      instrumentation: { receiver: listening, rssBytes: null, deliveryTimeoutMs },
      disturbance: watch.find,
      tearDown: async () => {
        watch.close();
        await inStep?.stop();
        for (const { name } of keys) lastUsedMs.set(name, performance.now());
      },
    };
  };

  return {
    target,
    skipReason: (trial) => {
      const { main = null, second = null } = tiers.get(trial.tier) ?? {};
      const hasReceiver = webhooks !== null;
      return missingRequirement(trial, { agents: loadAgentsOf(target), keys: { main, second }, hasReceiver });
    },
    cooldownMs: (trial) => {
      // With a test clock, there is no real pause: `setUp` advances the clock by a minute before each trial.
      if (target.clock !== null) return 0;
      const lastMs = Math.max(...keysOf(trial).map(({ name }) => lastUsedMs.get(name) ?? -Infinity));
      return lastMs + minuteOverMs - performance.now();
    },
    setUp,
    close: async () => {
      announced.close();
      await (await receiver)?.close();
    },
  };
}

const needsReceiver = ({ scenario }: LoadTrial): boolean => scenario.needs.includes("receiver");

function keysOfTrial({ scenario }: LoadTrial, found: TierKeys | null): readonly TargetKey[] {
  if (found === null) return [];
  const { main, second, limits } = found;
  const usesSecond = scenario.flows(limits).some(({ key }) => key === "second");
  return usesSecond && second !== null ? [main, second] : [main];
}

const engineTargetOf = (
  target: Target,
  { tier, limits, main, second }: TierKeys,
  isFresh: boolean,
): TrialSetup["target"] => ({
  baseUrl: target.baseUrl,
  keys: { main: main.key, second: second?.key ?? null },
  tier,
  limits,
  isFresh,
  agents: loadAgentsOf(target),
  roleRequests: roleRequestsOf(target),
  speed: 1,
  network: target.network,
});

export const loadAgentsOf = (target: Target): TrialSetup["target"]["agents"] => ({
  answering: target.agents.answering ?? null,
  streaming: target.agents.streaming ?? target.agents.answering ?? null,
  slow: roleAssignmentOf(target, "slow")?.agent ?? null,
  slowStreaming: roleAssignmentOf(target, "slowStreaming")?.agent ?? null,
  failing: roleAssignmentOf(target, "failing")?.agent ?? null,
});
