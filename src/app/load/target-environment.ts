import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { performance } from "node:perf_hooks";

import { type TierLimits, type TierName, tierNames } from "../../spec/tiers.ts";
import { type LoadEnvironment, missingRequirement, type TrialSetup } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { loadStorage, type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { announceRun } from "../../run/disturbances/other-runs.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { roleRequestsOf } from "../../target/own-request.ts";
import { type ClockControl, roleAssignmentOf, type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import {
  withRepeatedAdvance,
  type FollowingClock,
  followRealTime,
  serverTimeReader,
  isStandingClock,
} from "./trial-clock.ts";
import { watchForDisturbances } from "./trial-disturbances.ts";

/** The rate limits of a tier, and the one or two keys of this tier that send the load. */
export interface TierKeys {
  readonly tier: TierName;
  readonly limits: TierLimits;
  readonly main: TargetKey;
  /** A second key of the tier; `null` if the target has only one. */
  readonly second: TargetKey | null;
}

export interface TargetEnvironment extends LoadEnvironment {
  readonly close: () => Promise<void>;
}

const deliveryTimeoutMs = 30_000;

/**
 * Returns the limits and keys of each tier for which the target has a usable key. A tier of the target's own counts as
 * enterprise, with its own limits.
 */
export function tierKeysOf(target: Target): TierKeys[] {
  const byTier = Map.groupBy(usableKeys(target), ({ tier }) => tier);
  return [...byTier].flatMap(([name, [main, second = null]]): TierKeys[] => {
    const limits = main === undefined ? null : limitsOf(main, target);
    if (name === null || main === undefined || limits === null) return [];
    return [{ tier: tierNames.find((each) => each === name) ?? "enterprise", limits, main, second }];
  });
}

/**
 * Prepares the user's target, with its clock and keys, for load trials.
 *
 * @param used when each key was last used (`performance.now()`), by key name; such a key pauses before the first
 *   trial
 */
export function openTargetEnvironment(target: Target, used: ReadonlyMap<string, number>): TargetEnvironment {
  const tiers = new Map(tierKeysOf(target).map((each) => [each.tier, each]));
  const lastUsedMs = new Map(used);
  const announced = announceRun(target);
  const clock = target.clock === null ? null : controlTrialClock(target, target.clock);
  let receiver: Promise<Receiver> | null = null;
  const receiverOf = async (trial: LoadTrial): Promise<Receiver | null> =>
    needsReceiver(trial) ? (receiver ??= startTargetReceiver(target)) : null;
  const keysOf = (trial: LoadTrial): readonly TargetKey[] => keysOfTrial(trial, tiers.get(trial.tier) ?? null);

  const setUp = async (trial: LoadTrial): Promise<TrialSetup> => {
    const found = tiers.get(trial.tier);
    if (found === undefined) throw new Error(`there is no key of the ${trial.tier} tier`);
    const keys = keysOf(trial);
    const isFresh = keys.every(({ fresh, name }) => fresh && !lastUsedMs.has(name));
    if (!isFresh) await clock?.beginMinute();
    const listening = await receiverOf(trial);
    const inStep = (await clock?.keepInStep(found.main)) ?? null;
    // With webhooks, a test clock may lag behind real time: some targets respond to an advance only after the
    // deliveries that it causes.
    const mayLag = needsReceiver(trial);
    const watch = watchForDisturbances({
      target,
      keys,
      announced,
      clock: clock?.betweenTrials ?? null,
      inStep,
      mayLag,
    });
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
      const found = tiers.get(trial.tier);
      return missingRequirement(trial, {
        agents: loadAgentsOf(target),
        keys: { main: found?.main ?? null, second: found?.second ?? null },
        hasReceiver: target.webhooks !== null,
      });
    },
    cooldownMs: (trial) => {
      // With a test clock, no real time has to pass: `setUp` advances the clock by a minute before the trial.
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

/** Returns the keys that a trial uses: the main key of its tier, and the second key if the scenario needs one. */
function keysOfTrial({ scenario }: LoadTrial, found: TierKeys | null): readonly TargetKey[] {
  if (found === null) return [];
  const { main, second, limits } = found;
  const usesSecond = scenario.flows(limits).some(({ key }) => key === "second");
  return usesSecond && second !== null ? [main, second] : [main];
}

/** Adds the two operations that trials need to a target's test clock: to pass a minute, and to follow real time. */
function controlTrialClock(target: Target, clock: ClockControl) {
  const betweenTrials = withRepeatedAdvance(clock);
  let standing: Promise<boolean> | null = null;
  return {
    betweenTrials,
    /** Advances the clock by a minute, so that earlier requests no longer count in the window. */
    beginMinute: () => betweenTrials.advance(minuteOverMs),
    /**
     * If the clock stands still by itself, makes it follow real time. Returns `null` for a clock that moves by itself.
     */
    keepInStep: async (main: TargetKey): Promise<FollowingClock | null> => {
      standing ??= isStandingClock({ clock: betweenTrials, read: serverTimeReader(target, main) });
      return (await standing) ? followRealTime(clock) : null;
    },
  };
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

/**
 * Returns the agent for each role under load; `null` if there is none. Without an agent for streams, the agent that
 * answers also streams.
 */
export const loadAgentsOf = (target: Target): TrialSetup["target"]["agents"] => ({
  answering: target.agents.answering ?? null,
  streaming: target.agents.streaming ?? target.agents.answering ?? null,
  slow: roleAssignmentOf(target, "slow")?.agent ?? null,
  slowStreaming: roleAssignmentOf(target, "slowStreaming")?.agent ?? null,
  failing: roleAssignmentOf(target, "failing")?.agent ?? null,
});

const startTargetReceiver = ({ webhooks, network }: Target): Promise<Receiver> =>
  startReceiver({
    listen: webhooks?.listen ?? "127.0.0.1:0",
    publicUrl: webhooks?.publicUrl ?? null,
    network,
    time: { now: () => performance.now(), clockOffsetMs: () => 0, maxClockOffsetMs: () => 0 },
    storage: loadStorage,
  });
