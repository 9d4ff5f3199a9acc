import { newestRequirements, type RequirementSet } from "../../spec/clause.ts";
import {
  type EngineName,
  type Scenario,
  scenarioNamed,
  scenarios as allScenarios,
  scenarioTiers,
} from "../../load/scenarios.ts";
import { type TierLimits, type TierName, tierNames } from "../../spec/tiers.ts";
import { chooseTrials, type Estimate, estimateTrial, type LoadTrial } from "../../load/trials.ts";
import { describeSkip, type Messages, type SkipReason, type SkipText } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";
import { embeddedLimits, loadAgentsOf, type TierKeys, tierKeysOf } from "./trial-environment.ts";
import { type AvailableEngines, usableEngineNames, enginesForTarget } from "./available-engines.ts";
import { type NotSentReason, UnsendableLoadError } from "./not-sent-reason.ts";
import { readPackageFile } from "../../base/package-root.ts";
import { operatorManifest } from "../../load/engines/k6/operator.ts";
import { missingRequirement } from "../../load/run-trials.ts";
import { roleRequestsOf } from "../../target/own-request.ts";

export interface LoadParameters {
  /** Names of the scenarios to send, or `all`. An empty list stands for the default scenarios. */
  readonly scenarios: readonly string[] | "all";
  /** The load engine. `first`: each scenario's first usable engine. `in turns`: k6 and autocannon alternate. */
  readonly engine: EngineName | "first" | "in turns";
  readonly segments: number;
  /** The tier on which to send load. `null`: every tier for which the target has a key; all on the embedded server. */
  readonly tier: TierName | null;
  /** Maximum number of requests of the load. A trial that would exceed this number is skipped. */
  readonly maxRequests: number;
  readonly requirements: RequirementSet;
}

export const defaultLoadParameters: LoadParameters = {
  scenarios: [],
  engine: "first",
  segments: 1,
  tier: null,
  maxRequests: Number.POSITIVE_INFINITY,
  requirements: newestRequirements,
};

export interface LoadPlan {
  readonly trials: readonly LoadTrial[];
  readonly estimateOf: (trial: LoadTrial) => Estimate;
  /** Keys and limits of the target for each tier; `null` for the embedded server, which creates new keys. */
  readonly tiers: readonly TierKeys[] | null;
  readonly unsendable: readonly string[];
}

export interface LoadPreview {
  readonly baseUrl: string | null;
  readonly keys: readonly string[];
  readonly estimates: readonly Estimate[];
  /** Total time, in seconds, that the load waits between trials so that keys recover. */
  readonly restSeconds: number;
  readonly unsendable: readonly string[];
}

export function planLoad(parameters: LoadParameters, target: Target | null, engines: readonly EngineName[]): LoadPlan {
  const scenarios = chooseScenarios(parameters.scenarios, target !== null);
  const tiers = target === null ? null : chosenTiers(target, parameters.tier);
  const trials = chooseTrials({
    scenarios,
    tiers: tiers?.map(({ tier }) => tier) ?? (parameters.tier === null ? tierNames : [parameters.tier]),
    engine: parameters.engine,
    engines,
    usesScenarioLimits: target === null,
  });
  const unsendable = scenarios
    .filter((scenario) => !trials.some((trial) => trial.scenario === scenario))
    .map(describeUnsendable(parameters));
  if (trials.length === 0) throw new UnsendableLoadError({ kind: "nothing to send", left: unsendable });
  return { trials, tiers, unsendable, estimateOf: (trial) => estimateForTrial(trial, tiers) };
}

export function assertLoadParameters(
  parameters: LoadParameters,
  target: Target | null,
  available: AvailableEngines,
): void {
  const engines = enginesForTarget(available, target);
  assertScenariosAndEngine(parameters, target !== null, engines);
  if (target === null || tierKeysOf(target).length > 0) planLoad(parameters, target, usableEngineNames(engines));
}

export function assertScenariosAndEngine(
  { scenarios, engine }: Pick<LoadParameters, "scenarios" | "engine">,
  hasTarget: boolean,
  engines: AvailableEngines,
): void {
  chooseScenarios(scenarios, hasTarget);
  const missing = engine === "k6" || engine === "autocannon" ? engines[engine] : null;
  if (missing !== null) throw new UnsendableLoadError({ kind: "no engine", missing });
}

function estimateForTrial(trial: LoadTrial, tiers: readonly TierKeys[] | null): Estimate {
  const limits = limitsOfTrial(trial, tiers);
  return estimateTrial(trial, limits, tiers === null ? trial.scenario.speed(limits) : 1);
}

const limitsOfTrial = ({ scenario, tier }: LoadTrial, tiers: readonly TierKeys[] | null): TierLimits =>
  tiers?.find((each) => each.tier === tier)?.limits ?? embeddedLimits(scenario, tier);

const describeUnsendable =
  ({ engine, tier }: LoadParameters) =>
  (scenario: Scenario): string => {
    const { name, engines } = scenario;
    if (engine !== "first" && engine !== "in turns" && !engines.includes(engine))
      return `${name} can be sent by ${engines.join(" or ")} only`;
    return `${name} is for ${scenarioTiers(scenario).join(", ")}${tier === null ? ", and the target has no such key" : ""}`;
  };

function chosenTiers(target: Target, wanted: TierName | null): readonly TierKeys[] {
  const all = tierKeysOf(target);
  if (all.length === 0) throw new UnsendableLoadError({ kind: target.auth === "none" ? "no keys" : "no tier" });
  const found = all.filter(({ tier }) => wanted === null || tier === wanted);
  if (found.length > 0 || wanted === null) return found;
  throw new UnsendableLoadError({ kind: "no key of the tier", wanted, tiers: all.map(({ tier }) => tier) });
}

/** How long a key rests between two trials, so that requests of the first trial no longer count per minute. */
const keyPauseSeconds = 61;

export function previewLoad(
  plan: LoadPlan,
  target: Target | null,
  skipReasonOf: (trial: LoadTrial) => SkipReason | null,
): LoadPreview {
  const { trials, tiers, unsendable } = plan;
  const estimates = trials.filter((trial) => skipReasonOf(trial) === null).map(plan.estimateOf);
  const used = new Set(trials.map(({ tier }) => tier));
  const sent = new Set(estimates.map(({ trial }) => trial.tier));
  const keys = (tiers ?? [])
    .filter(({ tier }) => used.has(tier))
    .flatMap(({ main, second }) => [main.name, ...(second === null ? [] : [second.name])]);
  // With a test clock, a key rests by an advance of the clock.
  const hasRealTime = target !== null && target.clock === null;
  const rests = hasRealTime ? Math.max(0, estimates.length - sent.size) : 0;
  return { baseUrl: target?.baseUrl ?? null, keys, estimates, restSeconds: rests * keyPauseSeconds, unsendable };
}

export function maxRequestsOfTrial(plan: LoadPlan, trial: LoadTrial): number | null {
  const { requests, openEnded } = plan.estimateOf(trial);
  return openEnded.length === 0 ? requests : null;
}

/** Default scenarios of a load on the embedded server. They cover all tiers and take less than a minute. */
export const defaultScenarios = ["minute-limit", "burst", "concurrency", "recovery", "far-over"] as const;
/** Default scenarios of a load on a target. The list is short, because keys rest for a minute between scenarios. */
export const defaultScenariosOnTarget = ["concurrency", "burst", "minute-limit"] as const;

/** Returns the scenarios with the given names. An empty list stands for the default scenarios. */
export function chooseScenarios(names: LoadParameters["scenarios"], hasTarget: boolean): readonly Scenario[] {
  if (names === "all") return allScenarios;
  const wanted = names.length > 0 ? names : hasTarget ? defaultScenariosOnTarget : defaultScenarios;
  return [...new Set(wanted)].map((name) => {
    const found = scenarioNamed(name);
    if (found !== undefined) return found;
    throw new UnsendableLoadError({ kind: "unknown scenario", name, near: similarNames(name) });
  });
}

const maxSuggestions = 4;

function similarNames(name: string): string[] {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  return allScenarios
    .map((each) => each.name)
    .filter((each) => isSimilar(each, name, words))
    .slice(0, maxSuggestions);
}

const isSimilar = (name: string, typed: string, words: readonly string[]): boolean =>
  words.some((word) => word.length > 2 && name.includes(word)) || editDistance(name, typed.toLowerCase()) <= 3;

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of Array.from(one).entries()) {
    const next = [at + 1];
    for (const [place, each] of Array.from(other).entries())
      next.push(
        Math.min((next[place] ?? 0) + 1, (row[place + 1] ?? 0) + 1, (row[place] ?? 0) + (each === letter ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

export function k6OperatorManifest(
  { trials, tiers }: LoadPlan,
  target: Target,
  segments: number,
  messages: Messages,
): string {
  const [trial, ...others] = trials;
  if (trial === undefined || others.length > 0)
    throw new UnsendableLoadError({ kind: "several runs", runs: trials.length });
  const tierKeys = tiers?.find(({ tier }) => tier === trial.tier);
  if (tierKeys === undefined) throw new Error(`the plan has no key of the ${trial.tier} tier`);
  const agents = loadAgentsOf(target);
  // The k6 operator's pods send the load after the harness has exited, so the harness cannot receive webhooks.
  if (trial.scenario.needs.includes("receiver"))
    throw new UnsendableLoadError(missingRequirementReason(trial, receiverMissing));
  // The pods run in a cluster, so they cannot use this machine's proxy and certificate files.
  if (target.network.ca !== null || target.network.client !== null || target.network.proxy.kind === "always")
    throw new UnsendableLoadError(missingRequirementReason(trial, networkFilesMissing));
  const keys = { main: tierKeys.main, second: tierKeys.second };
  const missing = missingRequirement(trial, { agents, keys, hasReceiver: true });
  if (missing !== null) throw new UnsendableLoadError(missingRequirementReason(trial, describeSkip(missing, messages)));
  return operatorManifest(trial.scenario, {
    baseUrl: target.baseUrl,
    tier: trial.tier,
    limits: tierKeys.limits,
    agents,
    roleRequests: roleRequestsOf(target),
    segments,
    k6Version: pinnedVersion(),
  });
}

const receiverMissing: SkipText = { reason: "it needs a receiver beside the load", needs: "a run from one machine" };

const networkFilesMissing: SkipText = {
  reason: "a manifest carries no proxy, authorities or client certificate",
  needs: "an image that has them, and a target without them",
};

const missingRequirementReason = ({ scenario }: LoadTrial, missing: SkipText): NotSentReason => ({
  kind: "lacks what it needs",
  scenario: scenario.name,
  missing,
});

function pinnedVersion(): string {
  const found = /^\s*go\.k6\.io\/k6\/v2 (v[\d.]+)/m.exec(readPackageFile("k6/go.mod"))?.[1];
  if (found === undefined) throw new Error("k6/go.mod names no version of go.k6.io/k6/v2");
  return found;
}
