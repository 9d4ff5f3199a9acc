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

/** The trials that a load will run. In a trial, one engine sends one scenario with a key of one tier. */
export interface LoadPlan {
  readonly trials: readonly LoadTrial[];
  readonly estimateOf: (trial: LoadTrial) => Estimate;
  /** Limits and keys of each tier. `null`: the embedded server, which creates fresh keys. */
  readonly tiers: readonly TierKeys[] | null;
  /** A sentence for each chosen scenario that has no trial. */
  readonly unsendable: readonly string[];
}

/** A summary of the load, shown before the user is asked to agree to it. */
export interface LoadPreview {
  /** Base URL of the target. `null`: the embedded server. */
  readonly baseUrl: string | null;
  /** Names of the keys that send the load. Empty for the embedded server, which creates fresh keys. */
  readonly keys: readonly string[];
  readonly estimates: readonly Estimate[];
  /** Total time that keys pause between trials, in seconds. */
  readonly restSeconds: number;
  /** A sentence for each chosen scenario that cannot be sent. */
  readonly unsendable: readonly string[];
}

/**
 * Plans the trials of a load.
 *
 * @param target `null`: the embedded server
 * @param engines the available engines
 * @throws {UnsendableLoadError} if a scenario or every tier is unknown, or nothing can be sent
 */
export function planLoad(parameters: LoadParameters, target: Target | null, engines: readonly EngineName[]): LoadPlan {
  const scenarios = chooseScenarios(parameters.scenarios, target !== null);
  const tiers = target === null ? null : tiersOf(target, parameters.tier);
  const trials = chooseTrials({
    scenarios,
    tiers: tiers?.map(({ tier }) => tier) ?? (parameters.tier === null ? tierNames : [parameters.tier]),
    engine: parameters.engine,
    engines,
    usesScenarioLimits: target === null,
  });
  const unsendable = scenarios
    .filter((scenario) => !trials.some((trial) => trial.scenario === scenario))
    .map(whyNotSendable(parameters));
  if (trials.length === 0) throw new UnsendableLoadError({ kind: "nothing to send", left: unsendable });
  return { trials, tiers, unsendable, estimateOf: (trial) => estimated(trial, tiers) };
}

/**
 * Checks the load parameters before anything is sent. While no key has a known tier, checks only scenarios and engine.
 *
 * @throws {UnsendableLoadError}
 */
export function assertLoadParameters(
  parameters: LoadParameters,
  target: Target | null,
  available: AvailableEngines,
): void {
  const engines = enginesFor(available, target);
  assertScenariosAndEngine(parameters, target !== null, engines);
  if (target === null || tierKeysOf(target).length > 0) planLoad(parameters, target, engines.names);
}

/**
 * Checks the load parameters that do not depend on a target.
 *
 * @throws {UnsendableLoadError} if a scenario is unknown, or the named engine is not installed
 */
export function assertScenariosAndEngine(
  { scenarios, engine }: Pick<LoadParameters, "scenarios" | "engine">,
  isRealTime: boolean,
  engines: AvailableEngines,
): void {
  chooseScenarios(scenarios, isRealTime);
  const missing = engine === "k6" || engine === "autocannon" ? engines.missing(engine) : null;
  if (missing !== null) throw new UnsendableLoadError({ kind: "no engine", missing });
}

function estimated(trial: LoadTrial, tiers: readonly TierKeys[] | null): Estimate {
  const limits = limitsOfTrial(trial, tiers);
  return estimateTrial(trial, limits, tiers === null ? trial.scenario.speed(limits) : 1);
}

const limitsOfTrial = ({ scenario, tier }: LoadTrial, tiers: readonly TierKeys[] | null): TierLimits =>
  tiers?.find((each) => each.tier === tier)?.limits ?? embeddedLimits(scenario, tier);

const whyNotSendable =
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

/** Pause of a key between two trials: a minute window, and one second more. No earlier request counts afterwards. */
const restSeconds = 61;

/** Summarizes a planned load for the user. Leaves out trials that will be skipped. */
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

/** The maximum number of requests in a trial; `null` if the number depends on the responses. */
export function maxRequestsOf(plan: LoadPlan, trial: LoadTrial): number | null {
  const { requests, openEnded } = plan.estimateOf(trial);
  return openEnded.length === 0 ? requests : null;
}
