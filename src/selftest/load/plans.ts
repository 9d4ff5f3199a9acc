import type { TierName } from "../../spec/tiers.ts";
import { minuteMs } from "../../base/duration.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { type EngineName, scenarioNamed, scenarios, scenarioTiers } from "../../load/scenarios.ts";
import type { PatchName } from "../../reference/embedded/process/server-process.ts";
import { runTrials, type LoadEnvironment, type TrialResult } from "../../load/run-trials.ts";
import { type LoadTrial, trialName } from "../../load/trials.ts";
import { EngineProblem } from "../../load/engine.ts";
import { runAutocannon } from "../../load/engines/autocannon/run.ts";
import { findK6 } from "../../load/engines/k6/binary.ts";
import { runK6 } from "../../load/engines/k6/run.ts";
import { referenceTiers } from "../../reference/keys.ts";
import { coreMessages } from "../trial.ts";

interface LoadFaultPlan {
  readonly fault: string;
  readonly scenario: string;
  readonly tier: TierName;
  /** Clauses or load requirements that the load trial must report as broken, e.g. `LIM-1` or `load/slow-refusals`. */
  readonly finds: readonly string[];
  readonly mayFind?: readonly string[];
}

/** Faults, each with the scenario that must detect the fault. Every fault that only load detects is in this list. */
export const loadFaultPlans: readonly LoadFaultPlan[] = [
  { fault: "decides-before-it-counts", scenario: "burst", tier: "pro", finds: ["LIM-1"] },
  { fault: "one-too-many-a-minute", scenario: "minute-limit", tier: "pro", finds: ["LIM-1"] },
  { fault: "one-too-few-a-minute", scenario: "minute-limit", tier: "free", finds: ["LIM-2"], mayFind: ["HDR-12"] },
  { fault: "one-too-many-an-hour", scenario: "hour-limit", tier: "free", finds: ["LIM-3"] },
  { fault: "one-slot-too-many", scenario: "concurrency", tier: "free", finds: ["LIM-5"] },
  { fault: "slot-lost-by-leaving", scenario: "slots-back", tier: "pro", finds: ["LIM-17"] },
  { fault: "stream-outlives-client", scenario: "slots-back", tier: "pro", finds: ["SSE-27"] },
  { fault: "slot-back-with-the-head", scenario: "held-streams", tier: "free", finds: ["LIM-18"] },
  { fault: "keys-share", scenario: "noisy-neighbour", tier: "pro", finds: ["LIM-9"] },
  { fault: "refusals-restart-the-minute", scenario: "recovery", tier: "free", finds: ["LIM-13"] },
  { fault: "negative-while-crowded", scenario: "far-over", tier: "pro", finds: ["HDR-9"] },
  { fault: "slow-refusals", scenario: "health-while-exhausted", tier: "free", finds: ["load/slow-refusals"] },
  { fault: "token-updates-lost", scenario: "usage-ledger", tier: "pro", finds: ["USE-8"] },
  { fault: "one-event-in-a-thousand-lost", scenario: "webhook-storm", tier: "enterprise", finds: ["HOOK-8"] },
];

/** Scenarios that run one at a time, because each keeps a processor core busy. */
const exclusiveScenarios: ReadonlySet<string> = new Set([
  "burst",
  "noisy-neighbour",
  "far-over",
  "stream-integrity",
  "webhook-storm",
  "soak",
]);

type EnvironmentOpener = (patches: readonly PatchName[]) => LoadEnvironment & { readonly close: () => Promise<void> };

/** A load trial against the reference server. `fault` is `null` if the server has no fault. */
export interface LoadFaultTrial {
  readonly fault: string | null;
  readonly trial: LoadTrial;
  readonly finds: readonly string[];
  readonly mayFind: readonly string[];
}

interface BrokenClaim {
  readonly claim: string;
  readonly expected: string;
  readonly actual: string;
}

export interface LoadFaultResult extends LoadFaultTrial {
  readonly found: readonly BrokenClaim[];
  readonly problem: string | null;
  readonly seconds: number;
}

export function trialsOf(plans: readonly LoadFaultPlan[], engines: readonly EngineName[]): LoadFaultTrial[] {
  return plans.flatMap(({ fault, scenario: name, tier, finds, mayFind = [] }) => {
    const scenario = scenarioNamed(name);
    if (scenario === undefined) throw new Error(`There is no scenario ${name} to press ${fault} with.`);
    return engines
      .filter((engine) => scenario.engines.includes(engine))
      .map((engine): LoadFaultTrial => ({ fault, trial: { scenario, tier, engine }, finds, mayFind }));
  });
}

/** Returns each trial once, even if several faults use it, against a correct server. The trials must find nothing. */
export function withoutFaults(trials: readonly LoadFaultTrial[]): LoadFaultTrial[] {
  const byName = new Map(trials.map((each) => [trialName(each.trial), each]));
  return [...byName.values()].map((each) => ({ ...each, fault: null, finds: [], mayFind: [] }));
}

/**
 * Returns one trial for each pair of scenario and engine, against a server without faults. Round 0 uses each scenario's
 * first tier, round 1 the second, and so on.
 */
export function cleanRound(round: number, engines: readonly EngineName[]): LoadFaultTrial[] {
  return scenarios.flatMap((scenario) => {
    const tiers = scenario.enterpriseLimits === null ? scenarioTiers(scenario) : (["enterprise"] as const);
    const tier = tiers[round % tiers.length] ?? "free";
    return engines
      .filter((engine) => scenario.engines.includes(engine))
      .map((engine): LoadFaultTrial => ({ fault: null, trial: { scenario, tier, engine }, finds: [], mayFind: [] }));
  });
}

export async function installedEngines(): Promise<EngineName[]> {
  try {
    await findK6();
    return ["k6", "autocannon"];
  } catch (error) {
    if (error instanceof EngineProblem) return ["autocannon"];
    throw error;
  }
}

/** Maximum number of trials that run at the same time. Trials of {@link exclusiveScenarios} run alone. */
const maxConcurrentTrials = 4;

/** Runs all trials. The {@link exclusiveScenarios} run last, one at a time. */
export async function runLoadFaults(
  trials: readonly LoadFaultTrial[],
  openEnvironment: EnvironmentOpener,
  onResult: (result: LoadFaultResult) => void = () => {},
): Promise<LoadFaultResult[]> {
  const done = new Map<LoadFaultTrial, LoadFaultResult>();
  const runEach = async (waiting: Iterable<LoadFaultTrial>): Promise<void> => {
    for (const trial of waiting) {
      const result = await runUntilDetected(trial, openEnvironment);
      done.set(trial, result);
      onResult(result);
    }
  };
  const isExclusive = ({ trial }: LoadFaultTrial): boolean => exclusiveScenarios.has(trial.scenario.name);
  const concurrent = trials.filter((each) => !isExclusive(each)).values();
  await Promise.all(Array.from({ length: maxConcurrentTrials }, () => runEach(concurrent)));
  await runEach(trials.filter(isExclusive));
  return trials.flatMap((trial) => done.get(trial) ?? []);
}

const maxLoads = 6;

async function runUntilDetected(trial: LoadFaultTrial, openEnvironment: EnvironmentOpener): Promise<LoadFaultResult> {
  for (let load = 1; ; load += 1) {
    const result = await runTrial(trial, openEnvironment);
    const isMissed = result.found.length === 0 && (result.problem !== null || trial.finds.length > 0);
    if (!isMissed || load >= maxLoads) return result;
  }
}

async function runTrial(planned: LoadFaultTrial, openEnvironment: EnvironmentOpener): Promise<LoadFaultResult> {
  const environment =
    planned.fault === null
      ? openEnvironment([])
      : withShortDeliveryWait(openEnvironment([{ kind: "fault", name: planned.fault }]));
  try {
    if (planned.fault !== null) await waitForTimeInMinute(planned.trial);
    const beganMs = performance.now();
    const outcome = await sendLoneTrial(planned.trial, environment);
    return { ...planned, ...findingsOf(outcome), seconds: (performance.now() - beganMs) / 1000 };
  } finally {
    await environment.close();
  }
}

/** Runs and judges one trial, without a maximum number of requests. */
export async function sendLoneTrial(trial: LoadTrial, environment: LoadEnvironment): Promise<TrialResult | undefined> {
  const [result] = await runTrials({
    trials: [trial],
    started: new Date(),
    environment,
    engines: { k6: runK6, autocannon: runAutocannon },
    missingEngine: () => null,
    segments: 1,
    dashboardOf: () => null,
    knownRequestCount: () => null,
    maxRequests: Number.POSITIVE_INFINITY,
    messages: coreMessages,
    signal: new AbortController().signal,
    onTrial: () => {},
    onWait: () => {},
    onProgress: () => {},
    onResult: () => {},
    maxConnections: 0,
    onDeath: () => {},
  });
  return result;
}

/** Minimum time left in the current minute when a load starts, so that the load ends in the same minute. */
const minTimeLeftMs = 6000;

async function waitForTimeInMinute({ scenario, tier }: LoadTrial): Promise<void> {
  if (scenario.speed(referenceTiers[tier]) !== 1) return;
  const leftMs = minuteMs - (Date.now() % minuteMs);
  if (leftMs < minTimeLeftMs) await sleep(leftMs);
}

/**
 * Maximum wait for a load's deliveries. The wait is short, because trials wait in vain for deliveries that a fault
 * loses.
 */
const deliveryWaitMs = 4000;

function withShortDeliveryWait(environment: ReturnType<EnvironmentOpener>): ReturnType<EnvironmentOpener> {
  return {
    ...environment,
    setUp: async (trial) => {
      const stage = await environment.setUp(trial);
      return { ...stage, instrumentation: { ...stage.instrumentation, deliveryTimeoutMs: deliveryWaitMs } };
    },
  };
}

function findingsOf(outcome: TrialResult | undefined): Pick<LoadFaultResult, "found" | "problem"> {
  switch (outcome?.kind) {
    case "judged": {
      const broken = outcome.findings.flatMap((finding): BrokenClaim[] => {
        if (finding.kind !== "breach") return [];
        const { clause, check, expected, actual } = finding;
        return [{ claim: clause ?? check.split("/").slice(0, 2).join("/"), expected, actual }];
      });
      return {
        found: [...new Map(broken.map((each) => [each.claim, each])).values()].toSorted((a, b) =>
          a.claim.localeCompare(b.claim),
        ),
        problem: outcome.validity.invalid,
      };
    }
    case "skipped":
      return { found: [], problem: outcome.reason };
    case "broken":
      return { found: [], problem: outcome.error };
    case undefined:
      return { found: [], problem: "nothing was sent" };
  }
}

export function complaintsOf({ finds, mayFind, found, problem }: LoadFaultResult): string[] {
  return [
    ...(problem === null ? [] : [`did not run: ${problem}`]),
    ...finds.filter((claim) => found.every((each) => each.claim !== claim)).map((claim) => `does not find ${claim}`),
    ...found
      .filter(({ claim }) => !finds.includes(claim) && !mayFind.includes(claim))
      .map(({ claim, expected, actual }) => `finds ${claim} as well: expected ${expected}; ${actual}`),
  ];
}
