import { type EngineName, type Scenario, scenarioTiers } from "../../load/scenarios.ts";
import { type TierLimits, type TierName, tierNames } from "../../spec/tiers.ts";
import { type Estimate, estimateTrial } from "../../load/trials.ts";
import type { SkipReason } from "../../run/skip-reason.ts";
import { chooseTrials, type LoadTrial } from "../../load/trials.ts";
import type { Target } from "../../target/target.ts";
import { chooseScenarios } from "./choose-scenarios.ts";
import { embeddedLimits } from "./embedded-environment.ts";
import { type AvailableEngines, enginesFor } from "./engines.ts";
import { UnsendableLoadError } from "./not-sent-reason.ts";
import { type TierKeys, tierKeysOf } from "./target-environment.ts";
import type { LoadParameters } from "./load-parameters.ts";

/** What is going to be sent, and what was asked for and cannot be. */
export interface LoadPlan {
  readonly trials: readonly LoadTrial[];
  readonly estimateOf: (trial: LoadTrial) => Estimate;
  /** Numbers and keys of each tier; `null` for the embedded server, which makes fresh keys. */
  readonly tiers: readonly TierKeys[] | null;
  /** Scenarios that were chosen and have no trial, in a sentence each. */
  readonly unsendable: readonly string[];
}

/** What is going to be sent, for whoever is asked to agree to it. */
export interface LoadPreview {
  /** `null`: the embedded server. */
  readonly baseUrl: string | null;
  /** Of the embedded server every trial takes fresh keys: no names. */
  readonly keys: readonly string[];
  readonly estimates: readonly Estimate[];
  /** Real time in which keys rest between trials, in seconds. */
  readonly restSeconds: number;
  /** Scenarios that were chosen and cannot be sent at all, in a sentence each. */
  readonly unsendable: readonly string[];
}

/**
 * @param target `null`: the embedded server
 * @param engines those that are here
 * @throws {UnsendableLoadError} where a scenario is unknown, no tier is known, or nothing is left to send
 */
export function planLoad(wish: LoadParameters, target: Target | null, engines: readonly EngineName[]): LoadPlan {
  const scenarios = chooseScenarios(wish.scenarios, target !== null);
  const tiers = target === null ? null : tiersOf(target, wish.tier);
  const trials = chooseTrials({
    scenarios,
    tiers: tiers?.map(({ tier }) => tier) ?? (wish.tier === null ? tierNames : [wish.tier]),
    engine: wish.engine,
    engines,
    usesScenarioLimits: target === null,
  });
  const unsendable = scenarios
    .filter((scenario) => !trials.some((trial) => trial.scenario === scenario))
    .map(whyLeft(wish));
  if (trials.length === 0) throw new UnsendableLoadError({ kind: "nothing to send", left: unsendable });
  return { trials, tiers, unsendable, estimateOf: (trial) => estimated(trial, tiers) };
}

/**
 * What can be known to be wrong with the load before anything is sent: of a target whose tiers only a look can show, less.
 *
 * @throws {UnsendableLoadError}
 */
export function assertLoadParameters(wish: LoadParameters, target: Target | null, here: AvailableEngines): void {
  const engines = enginesFor(here, target);
  assertScenariosAndEngine(wish, target !== null, engines);
  if (target === null || tierKeysOf(target).length > 0) planLoad(wish, target, engines.names);
}

/**
 * The part of it that no target changes.
 *
 * @throws {UnsendableLoadError} where a scenario is unknown, or the engine that was named is not here
 */
export function assertScenariosAndEngine(
  { scenarios, engine }: Pick<LoadParameters, "scenarios" | "engine">,
  isRealTime: boolean,
  engines: AvailableEngines,
): void {
  chooseScenarios(scenarios, isRealTime);
  const lack = engine === "k6" || engine === "autocannon" ? engines.missing(engine) : null;
  if (lack !== null) throw new UnsendableLoadError({ kind: "no engine", lack });
}

function estimated(trial: LoadTrial, tiers: readonly TierKeys[] | null): Estimate {
  const limits = limitsIn(trial, tiers);
  return estimateTrial(trial, limits, tiers === null ? trial.scenario.speed(limits) : 1);
}

const limitsIn = ({ scenario, tier }: LoadTrial, tiers: readonly TierKeys[] | null): TierLimits =>
  tiers?.find((each) => each.tier === tier)?.limits ?? embeddedLimits(scenario, tier);

const whyLeft =
  ({ engine, tier }: LoadParameters) =>
  (scenario: Scenario): string => {
    const { name, engines } = scenario;
    if (engine !== "first" && engine !== "in turns" && !engines.includes(engine))
      return `${name} can be sent by ${engines.join(" or ")} only`;
    return `${name} is for ${scenarioTiers(scenario).join(", ")}${tier === null ? ", and the target has no such key" : ""}`;
  };

function tiersOf(target: Target, wanted: TierName | null): readonly TierKeys[] {
  const all = tierKeysOf(target);
  if (all.length === 0) throw new UnsendableLoadError({ kind: "no tier" });
  const found = all.filter(({ tier }) => wanted === null || tier === wanted);
  if (found.length > 0 || wanted === null) return found;
  throw new UnsendableLoadError({ kind: "no key of the tier", wanted, tiers: all.map(({ tier }) => tier) });
}

/** A key rests for a minute between two trials. */
const restSeconds = 61;

/** Trials that cannot be sent are not part of what a person is asked to agree to. */
export function previewOf(
  plan: LoadPlan,
  target: Target | null,
  lackOf: (trial: LoadTrial) => SkipReason | null,
): LoadPreview {
  const { trials, tiers, unsendable } = plan;
  const estimates = trials.filter((trial) => lackOf(trial) === null).map(plan.estimateOf);
  const used = new Set(trials.map(({ tier }) => tier));
  const sent = new Set(estimates.map(({ trial }) => trial.tier));
  const keys = (tiers ?? [])
    .filter(({ tier }) => used.has(tier))
    .flatMap(({ main, second }) => [main.name, ...(second === null ? [] : [second.name])]);
  const rests = target === null ? 0 : Math.max(0, estimates.length - sent.size);
  return { baseUrl: target?.baseUrl ?? null, keys, estimates, restSeconds: rests * restSeconds, unsendable };
}

/** Most requests that a trial sends; `null` where answers decide how many. */
export function maxRequestsOf(plan: LoadPlan, trial: LoadTrial): number | null {
  const { requests, openEnded } = plan.estimateOf(trial);
  return openEnded.length === 0 ? requests : null;
}
