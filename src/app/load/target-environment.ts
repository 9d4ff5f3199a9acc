import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { performance } from "node:perf_hooks";

import type { KeyRole } from "../../load/scenarios.ts";
import { type TierLimits, type TierName, tierNames } from "../../spec/tiers.ts";
import { type LoadEnvironment, missingRequirement, type TrialSetup } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { loadStorage, type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { describeDisturbance, type Disturbance } from "../../run/disturbances/disturbance.ts";
import { type AnnouncedRun, announceRun } from "../../run/disturbances/other-runs.ts";
import { watchStalls } from "../../run/disturbances/stalls.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { type ClockControl, roleAssignmentOf, type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import { withRepeatedAdvance } from "./repeated-advance.ts";
import { keepInStep, readTimes, standsStill } from "./standing-clock.ts";

/** The limits of a target's tier, and the keys that load is sent with. */
export interface TierKeys {
  readonly tier: TierName;
  readonly limits: TierLimits;
  readonly main: TargetKey;
  /** `null` if there is only one key. */
  readonly second: TargetKey | null;
}

export interface TargetEnvironment extends LoadEnvironment {
  readonly close: () => Promise<void>;
}

const deliveriesWithinMs = 30_000;

/** Returns the tiers with known limits and usable keys. A tier that the document does not define counts as enterprise. */
export function tierKeysOf(target: Target): TierKeys[] {
  const byTier = Map.groupBy(usableKeys(target), ({ tier }) => tier);
  return [...byTier].flatMap(([name, [main, second = null]]): TierKeys[] => {
    const limits = main === undefined ? null : limitsOf(main, target);
    if (name === null || main === undefined || limits === null) return [];
    return [{ tier: tierNames.find((each) => each === name) ?? "enterprise", limits, main, second }];
  });
}

/**
 * A load environment for a deployment with its own clock and keys.
 *
 * @param used time of the last request by key name, by `performance.now()`. Such keys are not fresh, and cool down before the first trial.
 */
export function openTargetEnvironment(target: Target, used: ReadonlyMap<string, number>): TargetEnvironment {
  const tiers = new Map(tierKeysOf(target).map((each) => [each.tier, each]));
  const lastUsedMs = new Map(used);
  const announced = announceRun(target);
  let receiver: Promise<Receiver> | null = null;
  let standing: Promise<boolean> | null = null;
  const setUpClock = target.clock === null ? null : withRepeatedAdvance(target.clock);
  const isStanding = (clock: ClockControl, main: TargetKey): Promise<boolean> =>
    (standing ??= standsStill({ clock, read: readTimes(target, main) }));
  const keysOf = (trial: LoadTrial): readonly TargetKey[] => {
    const { main, second } = tiers.get(trial.tier) ?? { main: null, second: null };
    const roles = new Set<KeyRole>(trial.scenario.flows(publishedOr(tiers, trial.tier)).map(({ key }) => key));
    return [main, roles.has("second") ? second : null].filter((key) => key !== null);
  };

  const setUp = async (trial: LoadTrial): Promise<TrialSetup> => {
    const found = tiers.get(trial.tier);
    if (found === undefined) throw new Error(`there is no key of the ${trial.tier} tier`);
    const { limits, main, second } = found;
    const keys = keysOf(trial);
    const isFresh = keys.every(({ fresh, name }) => fresh && !lastUsedMs.has(name));
    if (!isFresh) await setUpClock?.advance(minuteOverMs);
    const needsReceiver = trial.scenario.needs.includes("receiver");
    const listening = needsReceiver ? await (receiver ??= listenFor(target)) : null;
    const inStep =
      target.clock !== null && setUpClock !== null && (await isStanding(setUpClock, main))
        ? keepInStep(target.clock)
        : null;
    // Some targets finish an advance only after its deliveries, so the clock may lag. That does no harm if deliveries
    // are counted: their number does not depend on the clock.
    const clockProblem = (): string | null => (needsReceiver ? null : (inStep?.problem() ?? null));
    const watch = watchTrial(announced);
    return {
      target: {
        baseUrl: target.baseUrl,
        keys: { main: main.key, second: second?.key ?? null },
        tier: trial.tier,
        limits,
        isFresh,
        agents: loadAgentsOf(target),
        roleRequests: target.roleAssignments,
        speed: 1,
        network: target.network,
      },
      instrumentation: {
        receiver: listening,
        rssBytes: null,
        deliveryTimeoutMs: deliveriesWithinMs,
      },
      disturbance: (wasAway) => watch.describe() ?? (wasAway ? null : clockProblem()),
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
      // With a test clock, `setUp` advances the clock by the minute, so no real time is needed.
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

/** Notices what disturbs a trial from now on: another run with the same keys, or a stall of this machine. */
function watchTrial(announced: AnnouncedRun) {
  const [startedUnixMs, stalls] = [Date.now(), watchStalls(performance.now())];
  const all = (): readonly Disturbance[] => {
    const found = announced.shared(startedUnixMs);
    if (found === null) return stalls.all();
    return [
      ...stalls.all(),
      { kind: "keys shared", by: "another run", fromMs: found.sinceMs - startedUnixMs, keys: found.keys },
    ];
  };
  return {
    describe: (): string | null => {
      const [first] = all();
      return first === undefined ? null : describeDisturbance(first);
    },
    close: stalls.close,
  };
}

const publishedOr = (tiers: ReadonlyMap<TierName, TierKeys>, tier: TierName): TierLimits =>
  tiers.get(tier)?.limits ?? { perHour: 1, perMinute: 1, concurrent: 1, burst: 1, tokensPerMonth: null };

/** The target's agents by role. An agent that answers is also used for streams. */
export const loadAgentsOf = (target: Target): TrialSetup["target"]["agents"] => ({
  answering: target.agents.answering ?? null,
  streaming: target.agents.streaming ?? target.agents.answering ?? null,
  slow: roleAssignmentOf(target, "slow")?.agent ?? null,
  slowStreaming: roleAssignmentOf(target, "slowStreaming")?.agent ?? null,
  failing: roleAssignmentOf(target, "failing")?.agent ?? null,
});

const listenFor = ({ webhooks, network }: Target): Promise<Receiver> =>
  startReceiver({
    listen: webhooks?.listen ?? "127.0.0.1:0",
    publicUrl: webhooks?.publicUrl ?? null,
    network,
    time: { now: () => performance.now(), clockOffsetMs: () => 0, maxClockOffsetMs: () => 0 },
    storage: loadStorage,
  });
