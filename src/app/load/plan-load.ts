import type { EngineName, Scenario } from "../../../scenarios/scenario.ts";
import { type TierLimits, type TierName, tierNames } from "../../interface/tiers.ts";
import { type Estimate, estimateOf } from "../../load/conduct-estimate.ts";
import type { Lack } from "../../run/lack.ts";
import { chooseTrials, type LoadTrial } from "../../load/conduct-trials.ts";
import type { Target } from "../../target/target.ts";
import { chooseScenarios } from "./choice.ts";
import { embeddedLimits } from "./embedded-ground.ts";
import { type EnginesHere, enginesFor } from "./engines.ts";
import { LoadProblem } from "./no-load.ts";
import { type TierGround, tiersOfTarget } from "./target-ground.ts";
import type { LoadWish } from "./wish.ts";

/** What is going to be sent, and what was asked for and cannot be. */
export interface LoadPlan {
  readonly trials: readonly LoadTrial[];
  readonly estimateOf: (trial: LoadTrial) => Estimate;
  /** Numbers and keys of each tier; `null` for the embedded server, which makes fresh keys. */
  readonly tiers: readonly TierGround[] | null;
  /** Scenarios that were chosen and have no trial, in a sentence each. */
  readonly left: readonly string[];
}

/** What is going to be sent, for whoever is asked to agree to it. */
export interface Outlook {
  /** `null`: the embedded server. */
  readonly baseUrl: string | null;
  /** Of the embedded server every trial takes fresh keys: no names. */
  readonly keys: readonly string[];
  readonly estimates: readonly Estimate[];
  /** Real time in which keys rest between trials, in seconds. */
  readonly restSeconds: number;
  /** Scenarios that were chosen and cannot be sent at all, in a sentence each. */
  readonly left: readonly string[];
}

/**
 * @param target `null`: the embedded server
 * @param engines those that are here
 * @throws {LoadProblem} where a scenario is unknown, no tier is known, or nothing is left to send
 */
export function planLoad(wish: LoadWish, target: Target | null, engines: readonly EngineName[]): LoadPlan {
  const scenarios = chooseScenarios(wish.scenarios, target !== null);
  const tiers = target === null ? null : tiersOf(target, wish.tier);
  const trials = chooseTrials({
    scenarios,
    tiers: tiers?.map(({ tier }) => tier) ?? (wish.tier === null ? tierNames : [wish.tier]),
    engine: wish.engine,
    engines,
    hasOwnTiers: target === null,
  });
  const left = scenarios.filter((scenario) => !trials.some((trial) => trial.scenario === scenario)).map(whyLeft(wish));
  if (trials.length === 0) throw new LoadProblem({ kind: "nothing to send", left });
  return { trials, tiers, left, estimateOf: (trial) => estimated(trial, tiers) };
}

/**
 * What can be known to be wrong with the load before anything is sent: of a target whose tiers only a look can show, less.
 *
 * @throws {LoadProblem}
 */
export function checkWish(wish: LoadWish, target: Target | null, here: EnginesHere): void {
  const engines = enginesFor(here, target);
  checkChoice(wish, target !== null, engines);
  if (target === null || tiersOfTarget(target).length > 0) planLoad(wish, target, engines.names);
}

/**
 * The part of it that no target changes.
 *
 * @throws {LoadProblem} where a scenario is unknown, or the engine that was named is not here
 */
export function checkChoice(
  { scenarios, engine }: Pick<LoadWish, "scenarios" | "engine">,
  isRealTime: boolean,
  engines: EnginesHere,
): void {
  chooseScenarios(scenarios, isRealTime);
  const lack = engine === "k6" || engine === "autocannon" ? engines.missing(engine) : null;
  if (lack !== null) throw new LoadProblem({ kind: "no engine", lack });
}

function estimated(trial: LoadTrial, tiers: readonly TierGround[] | null): Estimate {
  const limits = limitsIn(trial, tiers);
  return estimateOf(trial, limits, tiers === null ? trial.scenario.speed(limits) : 1);
}

const limitsIn = ({ scenario, tier }: LoadTrial, tiers: readonly TierGround[] | null): TierLimits =>
  tiers?.find((each) => each.tier === tier)?.limits ?? embeddedLimits(scenario, tier);

const whyLeft =
  ({ engine, tier }: LoadWish) =>
  ({ name, engines, tiers }: Scenario): string => {
    if (engine !== "first" && engine !== "in turns" && !engines.includes(engine))
      return `${name} can be sent by ${engines.join(" or ")} only`;
    return `${name} is for ${tiers.join(", ")}${tier === null ? ", and the target has no such key" : ""}`;
  };

function tiersOf(target: Target, wanted: TierName | null): readonly TierGround[] {
  const all = tiersOfTarget(target);
  if (all.length === 0) throw new LoadProblem({ kind: "no tier" });
  const found = all.filter(({ tier }) => wanted === null || tier === wanted);
  if (found.length > 0 || wanted === null) return found;
  throw new LoadProblem({ kind: "no key of the tier", wanted, tiers: all.map(({ tier }) => tier) });
}

/** A key rests for a minute between two trials. */
const restSeconds = 61;

/** Trials that cannot be sent are not part of what a person is asked to agree to. */
export function outlookOf(plan: LoadPlan, target: Target | null, lackOf: (trial: LoadTrial) => Lack | null): Outlook {
  const { trials, tiers, left } = plan;
  const estimates = trials.filter((trial) => lackOf(trial) === null).map(plan.estimateOf);
  const used = new Set(trials.map(({ tier }) => tier));
  const sent = new Set(estimates.map(({ trial }) => trial.tier));
  const keys = (tiers ?? [])
    .filter(({ tier }) => used.has(tier))
    .flatMap(({ main, second }) => [main.name, ...(second === null ? [] : [second.name])]);
  const rests = target === null ? 0 : Math.max(0, estimates.length - sent.size);
  return { baseUrl: target?.baseUrl ?? null, keys, estimates, restSeconds: rests * restSeconds, left };
}

/** Most requests that a trial sends; `null` where answers decide how many. */
export function boundOf(plan: LoadPlan, trial: LoadTrial): number | null {
  const { requests, open } = plan.estimateOf(trial);
  return open.length === 0 ? requests : null;
}
