import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { type TierLimits, type TierName, tierNames } from "../../spec/tiers.ts";
import {
  type LoadEnvironment,
  missingRequirement,
  type TrialObservations,
  type TrialSetup,
} from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { loadStorage, type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { type RunAnnouncement, announceRun } from "../../run/disturbances/other-runs.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { roleRequestsOf } from "../../target/own-request.ts";
import { type ClockControl, roleAssignmentOf, type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import { controlTrialClock, type FollowingClock, requestHealth } from "./trial-clock.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { describeDisturbance, type Disturbance } from "../../run/disturbances/disturbance.ts";
import { findForeignUse } from "../../run/disturbances/foreign-use.ts";
import { watchStalls } from "../../run/disturbances/watch-disturbances.ts";
import { type Network, plainNetwork } from "../../base/network/network.ts";
import {
  type PatchName,
  type ReferenceProcess,
  startReferenceProcess,
} from "../../reference/embedded/process/server-process.ts";
import type { Scenario } from "../../load/scenarios.ts";
import { referenceTiers } from "../../reference/keys.ts";

export type ClosableEnvironment = LoadEnvironment & { readonly close: () => Promise<void> };

const embeddedDeliveryTimeoutMs = 15_000;

export const embeddedLimits = ({ enterpriseLimits }: Scenario, tier: TierName): TierLimits =>
  tier === "enterprise" && enterpriseLimits !== null ? enterpriseLimits : referenceTiers[tier];

export function openEmbeddedEnvironment(patches: readonly PatchName[]): ClosableEnvironment {
  let shared: Promise<ReferenceProcess> | null = null;
  let receiver: Promise<Receiver> | null = null;
  const served = (own: TierLimits | null): Promise<ReferenceProcess> =>
    own === null
      ? (shared ??= startReferenceProcess({ patches }))
      : startReferenceProcess({ patches, tiers: { enterprise: own } });

  const setUp = async (trial: LoadTrial): Promise<TrialSetup> => {
    const { scenario, tier } = trial;
    const own = tier === "enterprise" ? scenario.enterpriseLimits : null;
    const server = await served(own);
    const limits = server.tiers[tier];
    const speed = scenario.speed(limits);
    await server.setSpeed(speed);
    const keys = { main: (await server.issueKey(tier)).key, second: (await server.issueKey(tier)).key };
    return {
      target: {
        baseUrl: server.baseUrl,
        keys,
        tier,
        limits,
        isFresh: true,
        agents: embeddedAgents(server),
        roleRequests: {},
        speed,
        network: plainNetwork,
      },
      instrumentation: {
        receiver: needsReceiver(trial) ? await (receiver ??= startLoadReceiver("127.0.0.1:0", null)) : null,
        rssBytes: server.rssBytes,
        deliveryTimeoutMs: embeddedDeliveryTimeoutMs,
      },
      disturbance: async () => ({}),
      tearDown: async () => {
        if (own !== null) await server.close();
      },
    };
  };

  return {
    target: null,
    skipReason: () => null,
    cooldownMs: () => 0,
    setUp,
    close: async () => {
      await (await shared)?.close();
      await (await receiver)?.close();
    },
  };
}

const embeddedAgents = ({ agents }: ReferenceProcess): TrialSetup["target"]["agents"] => ({
  answering: agents.answering,
  streaming: agents.streaming,
  slow: agents.slow,
  slowStreaming: agents.slowStream,
  failing: agents.failing,
});

const startLoadReceiver = (
  listen: string,
  publicUrl: string | null,
  network: Network = plainNetwork,
): Promise<Receiver> =>
  startReceiver({
    listen,
    publicUrl,
    network,
    time: { now: () => performance.now(), clockOffsetMs: () => 0, maxClockOffsetMs: () => 0 },
    storage: loadStorage,
  });

interface WatchedTrial {
  readonly target: Target;
  readonly keys: readonly TargetKey[];
  readonly announced: RunAnnouncement;
  readonly clock: ClockControl | null;
  readonly inStep: FollowingClock | null;
  /** Whether the trial ignores that the test clock lags behind real time. `true` for trials with webhooks. */
  readonly mayLag: boolean;
}

/** Watches a trial for disturbances: other users of the trial's keys, a stalled machine, or a lagging test clock. */
export function watchForDisturbances({ target, keys, announced, clock, inStep, mayLag }: WatchedTrial) {
  const [startedUnixMs, stalls] = [Date.now(), watchStalls(performance.now())];
  const ofRuns = (): Disturbance[] => {
    const found = announced.shared(startedUnixMs);
    return found === null
      ? []
      : [{ kind: "keys shared", by: "another run", fromMs: found.sinceMs - startedUnixMs, keys: found.keys }];
  };
  const find = async ({ wasAway, limitsBroken }: TrialObservations): Promise<string | null> => {
    const known = [...stalls.all(), ...ofRuns()];
    const problem = wasAway || mayLag ? null : (inStep?.problem() ?? null);
    const isInDoubt = known.length === 0 && problem === null && !wasAway && limitsBroken();
    const health = (key: TargetKey): ReturnType<typeof requestHealth> => requestHealth(target, key);
    const [first] = isInDoubt ? await findForeignUse({ keys, health, time: timeControlFor(clock) }) : known;
    return first === undefined ? problem : describeDisturbance(first);
  };
  return {
    find: async (observations: TrialObservations): Promise<Pick<LoadEvidence, "disturbance" | "clockLagMs">> => {
      const clockLagMs = inStep?.lagMs() ?? 0;
      const disturbance = await find(observations);
      return { ...(disturbance !== null && { disturbance }), ...(clockLagMs > 0 && { clockLagMs }) };
    },
    close: stalls.close,
  };
}

const timeControlFor = (clock: ClockControl | null): Parameters<typeof findForeignUse>[0]["time"] => ({
  canAdvance: clock !== null,
  canWait: (ms) => clock !== null || ms <= minuteOverMs,
  passTime: async (ms) => {
    await (clock === null ? sleep(ms) : clock.advance(ms));
  },
  sleepReal: (ms) => sleep(ms),
});

export interface TierKeys {
  readonly tier: TierName;
  readonly limits: TierLimits;
  readonly main: TargetKey;
  readonly second: TargetKey | null;
}

const deliveryTimeoutMs = 30_000;

/** Returns up to two keys of each tier with known limits. A tier that only the target has counts as `enterprise`. */
export function tierKeysOf(target: Target): TierKeys[] {
  const byTier = Map.groupBy(usableKeys(target), ({ tier }) => tier);
  return [...byTier].flatMap(([name, [main, second = null]]): TierKeys[] => {
    const limits = main === undefined ? null : limitsOf(main, target);
    if (name === null || main === undefined || limits === null) return [];
    return [{ tier: tierNames.find((each) => each === name) ?? "enterprise", limits, main, second }];
  });
}

/** Prepares the user's target for load trials. A trial starts a minute of target time after the last use of its keys. */
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
    // Trials with webhooks ignore a lag of the test clock. A target may confirm an advance only after it has sent all
    // due deliveries, and so the clock can seem to lag.
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
      // With a test clock, no real pause is needed: `setUp` advances the clock by a minute if a key is not fresh.
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
