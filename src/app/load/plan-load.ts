import type { EngineName, Scenario } from "../../../scenarios/scenario.ts";
import { type TierName, tierNames } from "../../interface/tiers.ts";
import type { Ground } from "../../load/conduct.ts";
import { type Estimate, estimateOf } from "../../load/conduct-estimate.ts";
import { chooseTrials, type Trial, type TrialChoice } from "../../load/conduct-trials.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Target } from "../../target/target.ts";
import { embeddedLimits } from "./embedded-ground.ts";
import type { Outlook } from "../../cli/loading/estimate-text.ts";
import type { Sending } from "../../cli/loading/load-flags.ts";
import { type TierGround, tiersOfTarget } from "./target-ground.ts";

/** What is going to be sent, and what was asked for and cannot be. */
export interface LoadPlan {
  readonly trials: readonly Trial[];
  readonly outlook: Outlook;
  readonly estimateOf: (trial: Trial) => Estimate;
  /** Scenarios that were chosen and have no trial, in a sentence each. */
  readonly left: readonly string[];
}

export interface PlanParts {
  readonly scenarios: readonly Scenario[];
  readonly sending: Sending;
  /** Whether nobody named scenarios: then both engines are used in turns. */
  readonly isMixed: boolean;
  readonly engines: readonly EngineName[];
  /** `null`: the embedded server. */
  readonly target: Target | null;
}

/** @throws {UsageProblem} where no tier is known, or nothing is left to send */
export function planLoad(parts: PlanParts): LoadPlan {
  const { scenarios, sending, isMixed, engines, target } = parts;
  const tiers = target === null ? null : tiersOf(target, sending.tier);
  const trials = chooseTrials({
    scenarios,
    tiers: tiers?.map(({ tier }) => tier) ?? (sending.tier === null ? tierNames : [sending.tier]),
    engine: engineOf(sending.engine, isMixed),
    engines,
    hasOwnTiers: target === null,
  });
  const left = scenarios
    .filter((scenario) => !trials.some((trial) => trial.scenario === scenario))
    .map(whyLeft(sending));
  if (trials.length === 0) throw new UsageProblem(`There is nothing to send: ${left.join("; ")}.`);
  const estimate = (trial: Trial): Estimate => {
    const found = tiers?.find(({ tier }) => tier === trial.tier);
    const limits = found?.limits ?? embeddedLimits(trial.scenario, trial.tier);
    return estimateOf(trial, limits, target === null ? trial.scenario.speed(limits) : 1);
  };
  return { trials, left, estimateOf: estimate, outlook: outlookOf(trials.map(estimate), target, tiers ?? []) };
}

const engineOf = (named: EngineName | null, isMixed: boolean): TrialChoice["engine"] =>
  named ?? (isMixed ? "in turns" : "first");

const whyLeft =
  ({ engine, tier }: Sending) =>
  ({ name, engines, tiers }: Scenario): string => {
    if (engine !== null && !engines.includes(engine)) return `${name} can be sent by ${engines.join(" or ")} only`;
    return `${name} is for ${tiers.join(", ")}${tier === null ? ", and the target has no such key" : ""}`;
  };

function tiersOf(target: Target, wanted: TierName | null): TierGround[] {
  const all = tiersOfTarget(target);
  if (all.length === 0)
    throw new UsageProblem(
      "The tier of no key is known, or its numbers are not: give --tier, or `tier` and `tiers` in a target file.",
    );
  const found = all.filter(({ tier }) => wanted === null || tier === wanted);
  if (found.length > 0) return found;
  throw new UsageProblem(
    `The target has no usable key of the ${wanted} tier; there are keys of ${all.map(({ tier }) => tier).join(", ")}.`,
  );
}

/** A key rests for a minute between two trials. */
const restSeconds = 61;

function outlookOf(estimates: readonly Estimate[], target: Target | null, tiers: readonly TierGround[]): Outlook {
  const used = new Set(estimates.map(({ trial }) => trial.tier));
  const rests = target === null ? 0 : estimates.length - used.size;
  const keys = tiers
    .filter(({ tier }) => used.has(tier))
    .flatMap(({ main, second }) => [main.name, ...(second === null ? [] : [second.name])]);
  return { baseUrl: target?.baseUrl ?? "", keys, estimates, restSeconds: rests * restSeconds };
}

/** Trials that cannot be sent are not part of what a person is asked to agree to. */
export const sendable = (plan: LoadPlan, lackOf: (trial: Trial) => ReturnType<Ground["lack"]>): Outlook => {
  const estimates = plan.outlook.estimates.filter(({ trial }) => lackOf(trial) === null);
  const used = new Set(estimates.map(({ trial }) => trial.tier));
  const rests = plan.outlook.restSeconds === 0 ? 0 : Math.max(0, estimates.length - used.size) * restSeconds;
  return { ...plan.outlook, estimates, restSeconds: rests };
};

/** Most requests that a trial sends; `null` where answers decide how many. */
export function boundOf(plan: LoadPlan, trial: Trial): number | null {
  const { requests, open } = plan.estimateOf(trial);
  return open.length === 0 ? requests : null;
}
