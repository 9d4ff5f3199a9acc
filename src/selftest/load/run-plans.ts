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
import { exclusiveScenarios, type LoadFaultPlan } from "./plans.ts";
import { coreMessages } from "../trial.ts";

/** Opens an embedded server for load, with these patches. `close` ends the server. */
export type EnvironmentOpener = (
  patches: readonly PatchName[],
) => LoadEnvironment & { readonly close: () => Promise<void> };

/** A fault, or none, with one scenario and one engine. */
export interface LoadFaultTrial {
  /** `null` for the server without a fault. */
  readonly fault: string | null;
  readonly trial: LoadTrial;
  readonly finds: readonly string[];
  readonly mayFind: readonly string[];
}

/** A broken clause, or a broken demand of load such as `load/slow-refusals`, with the finding. */
interface Found {
  readonly claim: string;
  readonly expected: string;
  readonly actual: string;
}

/** The result of a trial. */
export interface LoadFaultResult extends LoadFaultTrial {
  /** The first finding of each clause or demand, sorted by its name. */
  readonly found: readonly Found[];
  /** Why the load proved nothing; `null` if its result is valid. */
  readonly problem: string | null;
  readonly seconds: number;
}

/**
 * Combines each fault with each engine that its scenario supports.
 *
 * @throws {Error} if a scenario does not exist
 */
export function trialsOf(presses: readonly LoadFaultPlan[], engines: readonly EngineName[]): LoadFaultTrial[] {
  return presses.flatMap(({ fault, scenario: name, tier, finds, mayFind = [] }) => {
    const scenario = scenarioNamed(name);
    if (scenario === undefined) throw new Error(`There is no scenario ${name} to press ${fault} with.`);
    return engines
      .filter((engine) => scenario.engines.includes(engine))
      .map((engine): LoadFaultTrial => ({ fault, trial: { scenario, tier, engine }, finds, mayFind }));
  });
}

/** Returns the same loads for a server without a fault, each load once. They must find nothing. */
export function withoutFaults(trials: readonly LoadFaultTrial[]): LoadFaultTrial[] {
  const byName = new Map(trials.map((result) => [trialName(result.trial), result]));
  return [...byName.values()].map((result) => ({ ...result, fault: null, finds: [], mayFind: [] }));
}

/**
 * Returns a load of every scenario by each of its engines, for the server without a fault. Each round uses another
 * tier.
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

/** Returns the engines that are installed. */
export async function enginesHere(): Promise<EngineName[]> {
  try {
    await findK6();
    return ["k6", "autocannon"];
  } catch (error) {
    if (error instanceof EngineProblem) return ["autocannon"];
    throw error;
  }
}

/** Number of quiet trials to run at once. They wait more than they work. */
const concurrentQuietTrials = 4;

/**
 * Runs all trials, those of {@link exclusiveScenarios} one after the other. Returns the results in the order of the
 * trials.
 */
export async function runLoadFaults(
  trials: readonly LoadFaultTrial[],
  openEnvironment: EnvironmentOpener,
  onPressed: (result: LoadFaultResult) => void = () => {},
): Promise<LoadFaultResult[]> {
  const done = new Map<LoadFaultTrial, LoadFaultResult>();
  const lane = async (waiting: Iterable<LoadFaultTrial>): Promise<void> => {
    for (const trial of waiting) {
      const result = await runUntilDetected(trial, openEnvironment);
      done.set(trial, result);
      onPressed(result);
    }
  };
  const isLoud = ({ trial }: LoadFaultTrial): boolean => exclusiveScenarios.has(trial.scenario.name);
  const quiet = trials.filter((each) => !isLoud(each)).values();
  await Promise.all(Array.from({ length: concurrentQuietTrials }, () => lane(quiet)));
  await lane(trials.filter(isLoud));
  return trials.flatMap((trial) => done.get(trial) ?? []);
}

/**
 * Number of loads that a trial may send. A race shows by chance. On a busy machine it shows less often, or the load is
 * sent too late to prove anything.
 */
const maxLoads = 6;

/** Runs a trial. Repeats it while the load proves nothing or the fault does not show. Any finding ends the trial. */
async function runUntilDetected(trial: LoadFaultTrial, openEnvironment: EnvironmentOpener): Promise<LoadFaultResult> {
  for (let load = 1; ; load += 1) {
    const result = await runTrial(trial, openEnvironment);
    const isMissed = result.found.length === 0 && (result.problem !== null || trial.finds.length > 0);
    if (!isMissed || load >= maxLoads) return result;
  }
}

async function runTrial(result: LoadFaultTrial, openEnvironment: EnvironmentOpener): Promise<LoadFaultResult> {
  const environment =
    result.fault === null
      ? openEnvironment([])
      : withShortDeliveryWait(openEnvironment([{ kind: "fault", name: result.fault }]));
  try {
    if (result.fault !== null) await waitForTimeInMinute(result.trial);
    const beganMs = performance.now();
    const outcome = await sendLoneTrial(result.trial, environment);
    return { ...result, ...findingsOf(outcome), seconds: (performance.now() - beganMs) / 1000 };
  } finally {
    await environment.close();
  }
}

/** Sends one trial without bounds on requests, progress messages, or a way to stop it. */
export async function sendLoneTrial(trial: LoadTrial, environment: LoadEnvironment): Promise<TrialResult | undefined> {
  const [result] = await runTrials({
    trials: [trial],
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

/**
 * Minimum time left of the current minute when a load starts. Around the end of a minute, a correct server may admit a
 * full minute's requests twice: before and after it. With less time left, the trial waits for the next minute.
 */
const minTimeLeftMs = 6000;

async function waitForTimeInMinute({ scenario, tier }: LoadTrial): Promise<void> {
  if (scenario.speed(referenceTiers[tier]) !== 1) return;
  const leftMs = minuteMs - (Date.now() % minuteMs);
  if (leftMs < minTimeLeftMs) await sleep(leftMs);
}

/** How long a load waits for deliveries. A short wait is enough: a fault that loses deliveries never sends them. */
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
      const broken = outcome.findings.flatMap((finding): Found[] => {
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

/** Describes every difference from the findings that the trial must have. */
export function complaintsOf({ finds, mayFind, found, problem }: LoadFaultResult): string[] {
  return [
    ...(problem === null ? [] : [`did not run: ${problem}`]),
    ...finds.filter((claim) => found.every((each) => each.claim !== claim)).map((claim) => `does not find ${claim}`),
    ...found
      .filter(({ claim }) => !finds.includes(claim) && !mayFind.includes(claim))
      .map(({ claim, expected, actual }) => `finds ${claim} as well: expected ${expected}; ${actual}`),
  ];
}
