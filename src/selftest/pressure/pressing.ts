import { minuteMs } from "../../base/duration.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { scenarioNamed, scenarios } from "../../../scenarios/all.ts";
import type { EngineName } from "../../../scenarios/scenario.ts";
import type { PatchName } from "../../embedded/process/served.ts";
import { conductLoad, type Ground, type TrialResult } from "../../load/conduct.ts";
import { type LoadTrial, trialName } from "../../load/conduct-trials.ts";
import { EngineProblem } from "../../load/engine.ts";
import { runAutocannon } from "../../load/engines/autocannon/run.ts";
import { findK6 } from "../../load/engines/k6/binary.ts";
import { runK6 } from "../../load/engines/k6/run.ts";
import { referenceTiers } from "../../reference/keys.ts";
import { loudScenarios, type Press } from "./presses.ts";
import { plainWording } from "../plain-wording.ts";

/** An embedded server with these patches, started for load and ended by `close`. */
export type GroundOpener = (patches: readonly PatchName[]) => Ground & { readonly close: () => Promise<void> };

/** A fault, or none, under one scenario by one engine. */
export interface PressTrial {
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
export interface Pressed extends PressTrial {
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
export function trialsOf(presses: readonly Press[], engines: readonly EngineName[]): PressTrial[] {
  return presses.flatMap(({ fault, scenario: name, tier, finds, mayFind = [] }) => {
    const scenario = scenarioNamed(name);
    if (scenario === undefined) throw new Error(`There is no scenario ${name} to press ${fault} with.`);
    return engines
      .filter((engine) => scenario.engines.includes(engine))
      .map((engine): PressTrial => ({ fault, trial: { scenario, tier, engine }, finds, mayFind }));
  });
}

/** The same loads on a server without a fault, each once: nothing may be found. */
export function withoutFaults(trials: readonly PressTrial[]): PressTrial[] {
  const byName = new Map(trials.map((pressed) => [trialName(pressed.trial), pressed]));
  return [...byName.values()].map((pressed) => ({ ...pressed, fault: null, finds: [], mayFind: [] }));
}

/** Every scenario by each engine that it has, on the server without a fault; with each round another tier has its turn. */
export function cleanRound(round: number, engines: readonly EngineName[]): PressTrial[] {
  return scenarios.flatMap((scenario) => {
    const tiers = scenario.enterprise === null ? scenario.tiers : (["enterprise"] as const);
    const tier = tiers[round % tiers.length] ?? "free";
    return engines
      .filter((engine) => scenario.engines.includes(engine))
      .map((engine): PressTrial => ({ fault: null, trial: { scenario, tier, engine }, finds: [], mayFind: [] }));
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
export async function pressAll(
  trials: readonly PressTrial[],
  openGround: GroundOpener,
  onPressed: (pressed: Pressed) => void = () => {},
): Promise<Pressed[]> {
  const done = new Map<PressTrial, Pressed>();
  const lane = async (waiting: Iterable<PressTrial>): Promise<void> => {
    for (const trial of waiting) {
      const pressed = await pressUntilShown(trial, openGround);
      done.set(trial, pressed);
      onPressed(pressed);
    }
  };
  const isLoud = ({ trial }: PressTrial): boolean => loudScenarios.has(trial.scenario.name);
  const quiet = trials.filter((each) => !isLoud(each)).values();
  await Promise.all(Array.from({ length: quietAtOnce }, () => lane(quiet)));
  await lane(trials.filter(isLoud));
  return trials.flatMap((trial) => done.get(trial) ?? []);
}

/** A race shows by chance, and a busy machine gives it fewer, or sends too late to prove anything: a trial has so many loads. */
const mostLoads = 6;

/** Sends a trial, and again where it proved nothing or a fault has not shown yet; whatever else is found ends it. */
async function pressUntilShown(trial: PressTrial, openGround: GroundOpener): Promise<Pressed> {
  for (let load = 1; ; load += 1) {
    const pressed = await press(trial, openGround);
    const isMissed = pressed.found.length === 0 && (pressed.problem !== null || trial.finds.length > 0);
    if (!isMissed || load >= mostLoads) return pressed;
  }
}

/** Sends one trial and tells what was found. */
async function press(pressed: PressTrial, openGround: GroundOpener): Promise<Pressed> {
  const ground =
    pressed.fault === null ? openGround([]) : impatient(openGround([{ kind: "fault", name: pressed.fault }]));
  try {
    if (pressed.fault !== null) await roomInTheMinute(pressed.trial);
    const beganMs = performance.now();
    const [outcome] = await conductLoad({
      trials: [pressed.trial],
      ground,
      engines: { k6: runK6, autocannon: runAutocannon },
      missing: () => null,
      segments: 1,
      dashboardOf: () => null,
      requestsOf: () => null,
      maxRequests: Number.POSITIVE_INFINITY,
      wording: plainWording,
      signal: new AbortController().signal,
      onTrial: () => {},
      onWait: () => {},
      onProgress: () => {},
      onOutcome: () => {},
    });
    return { ...pressed, ...toldBy(outcome), seconds: (performance.now() - beganMs) / 1000 };
  } finally {
    await ground.close();
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

function impatient(ground: ReturnType<GroundOpener>): ReturnType<GroundOpener> {
  return {
    ...ground,
    open: async (trial) => {
      const stage = await ground.open(trial);
      return { ...stage, surroundings: { ...stage.surroundings, deliveriesWithinMs: lostAfterMs } };
    },
  };
}

function toldBy(outcome: TrialResult | undefined): Pick<Pressed, "found" | "problem"> {
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
export function complaintsOf({ finds, mayFind, found, problem }: Pressed): string[] {
  return [
    ...(problem === null ? [] : [`did not run: ${problem}`]),
    ...finds.filter((claim) => found.every((each) => each.claim !== claim)).map((claim) => `does not find ${claim}`),
    ...found
      .filter(({ claim }) => !finds.includes(claim) && !mayFind.includes(claim))
      .map(({ claim, expected, actual }) => `finds ${claim} as well: expected ${expected}; ${actual}`),
  ];
}
