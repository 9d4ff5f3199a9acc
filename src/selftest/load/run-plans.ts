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
import { plainWording } from "../trial.ts";

/** An embedded server with these patches, started for load and ended by `close`. */
export type EnvironmentOpener = (
  patches: readonly PatchName[],
) => LoadEnvironment & { readonly close: () => Promise<void> };

/** A fault, or none, under one scenario by one engine. */
export interface LoadFaultTrial {
  /** `null`: the server as it should be. */
  readonly fault: string | null;
  readonly trial: LoadTrial;
  readonly finds: readonly string[];
  readonly mayFind: readonly string[];
}

/** A clause, or a demand of load such as `load/slow-refusals`, that was found broken, and how. */
interface Found {
  readonly claim: string;
  readonly expected: string;
  readonly actual: string;
}

/** What came of it. */
export interface LoadFaultResult extends LoadFaultTrial {
  /** Each claim once, in order. */
  readonly found: readonly Found[];
  /** Why the load proved nothing; `null` where it ran. */
  readonly problem: string | null;
  readonly seconds: number;
}

/**
 * Each fault by each engine that its scenario has.
 *
 * @throws {Error} where a scenario is named that does not exist
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

/** The same loads on a server without a fault, each once: nothing may be found. */
export function withoutFaults(trials: readonly LoadFaultTrial[]): LoadFaultTrial[] {
  const byName = new Map(trials.map((pressed) => [trialName(pressed.trial), pressed]));
  return [...byName.values()].map((pressed) => ({ ...pressed, fault: null, finds: [], mayFind: [] }));
}

/** Every scenario by each engine that it has, on the server without a fault; with each round another tier has its turn. */
export function cleanRound(round: number, engines: readonly EngineName[]): LoadFaultTrial[] {
  return scenarios.flatMap((scenario) => {
    const tiers = scenario.enterpriseLimits === null ? scenarioTiers(scenario) : (["enterprise"] as const);
    const tier = tiers[round % tiers.length] ?? "free";
    return engines
      .filter((engine) => scenario.engines.includes(engine))
      .map((engine): LoadFaultTrial => ({ fault: null, trial: { scenario, tier, engine }, finds: [], mayFind: [] }));
  });
}

/** The engines that are here. */
export async function enginesHere(): Promise<EngineName[]> {
  try {
    await findK6();
    return ["k6", "autocannon"];
  } catch (error) {
    if (error instanceof EngineProblem) return ["autocannon"];
    throw error;
  }
}

/** Quiet trials wait more than they work: so many run at once. */
const quietAtOnce = 4;

/** Sends all of them, loud ones one after another, and tells what was found, in the order of the trials. */
export async function runLoadFaults(
  trials: readonly LoadFaultTrial[],
  openGround: EnvironmentOpener,
  onPressed: (pressed: LoadFaultResult) => void = () => {},
): Promise<LoadFaultResult[]> {
  const done = new Map<LoadFaultTrial, LoadFaultResult>();
  const lane = async (waiting: Iterable<LoadFaultTrial>): Promise<void> => {
    for (const trial of waiting) {
      const pressed = await pressUntilShown(trial, openGround);
      done.set(trial, pressed);
      onPressed(pressed);
    }
  };
  const isLoud = ({ trial }: LoadFaultTrial): boolean => exclusiveScenarios.has(trial.scenario.name);
  const quiet = trials.filter((each) => !isLoud(each)).values();
  await Promise.all(Array.from({ length: quietAtOnce }, () => lane(quiet)));
  await lane(trials.filter(isLoud));
  return trials.flatMap((trial) => done.get(trial) ?? []);
}

/** A race shows by chance, and a busy machine gives it fewer, or sends too late to prove anything: a trial has so many loads. */
const mostLoads = 6;

/** Sends a trial, and again where it proved nothing or a fault has not shown yet; whatever else is found ends it. */
async function pressUntilShown(trial: LoadFaultTrial, openGround: EnvironmentOpener): Promise<LoadFaultResult> {
  for (let load = 1; ; load += 1) {
    const pressed = await press(trial, openGround);
    const isMissed = pressed.found.length === 0 && (pressed.problem !== null || trial.finds.length > 0);
    if (!isMissed || load >= mostLoads) return pressed;
  }
}

/** Sends one trial and tells what was found. */
async function press(pressed: LoadFaultTrial, openGround: EnvironmentOpener): Promise<LoadFaultResult> {
  const environment =
    pressed.fault === null ? openGround([]) : impatient(openGround([{ kind: "fault", name: pressed.fault }]));
  try {
    if (pressed.fault !== null) await roomInTheMinute(pressed.trial);
    const beganMs = performance.now();
    const [outcome] = await runTrials({
      trials: [pressed.trial],
      environment,
      engines: { k6: runK6, autocannon: runAutocannon },
      missingEngine: () => null,
      segments: 1,
      dashboardOf: () => null,
      knownRequestCount: () => null,
      maxRequests: Number.POSITIVE_INFINITY,
      messages: plainWording,
      signal: new AbortController().signal,
      onTrial: () => {},
      onWait: () => {},
      onProgress: () => {},
      onResult: () => {},
    });
    return { ...pressed, ...toldBy(outcome), seconds: (performance.now() - beganMs) / 1000 };
  } finally {
    await environment.close();
  }
}

/** Twice a limit is admitted rightly where a minute ends in between: so close to its end, the next one is waited for. */
const leastRoomMs = 6000;

async function roomInTheMinute({ scenario, tier }: LoadTrial): Promise<void> {
  if (scenario.speed(referenceTiers[tier]) !== 1) return;
  const leftMs = minuteMs - (Date.now() % minuteMs);
  if (leftMs < leastRoomMs) await sleep(leftMs);
}

/** What a fault has lost never comes: nobody waits long for it. */
const lostAfterMs = 4000;

function impatient(ground: ReturnType<EnvironmentOpener>): ReturnType<EnvironmentOpener> {
  return {
    ...ground,
    setUp: async (trial) => {
      const stage = await ground.setUp(trial);
      return { ...stage, instrumentation: { ...stage.instrumentation, deliveryTimeoutMs: lostAfterMs } };
    },
  };
}

function toldBy(outcome: TrialResult | undefined): Pick<LoadFaultResult, "found" | "problem"> {
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

/** What is wrong with a trial, in words; empty where it found exactly what it must. */
export function complaintsOf({ finds, mayFind, found, problem }: LoadFaultResult): string[] {
  return [
    ...(problem === null ? [] : [`did not run: ${problem}`]),
    ...finds.filter((claim) => found.every((each) => each.claim !== claim)).map((claim) => `does not find ${claim}`),
    ...found
      .filter(({ claim }) => !finds.includes(claim) && !mayFind.includes(claim))
      .map(({ claim, expected, actual }) => `finds ${claim} as well: expected ${expected}; ${actual}`),
  ];
}
