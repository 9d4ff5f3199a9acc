import { type EngineName, type Scenario, scenarioTiers } from "./scenarios.ts";
import type { TierName } from "../spec/tiers.ts";

/** One scenario on one tier by one engine. */
export interface LoadTrial {
  readonly scenario: Scenario;
  readonly tier: TierName;
  readonly engine: EngineName;
}

/** `burst-pro-k6`: unique within a load run, and good for a file's name. */
export const trialName = ({ scenario, tier, engine }: LoadTrial): string => `${scenario.name}-${tier}-${engine}`;

/** Where a run writes a trial's load evidence: beside `report.json`. */
export const evidenceFileOf = (trial: LoadTrial): string => `load/${trialName(trial)}.json`;

export interface TrialChoice {
  readonly scenarios: readonly Scenario[];
  /** Tiers that there are keys of, or the one that was asked for. */
  readonly tiers: readonly TierName[];
  /** `first`: each scenario's own first choice; `in turns`: one after the other, so that both are used. */
  readonly engine: EngineName | "first" | "in turns";
  /** Engines that are here. A scenario that none of them can send keeps its first one, to be skipped by name. */
  readonly engines: readonly EngineName[];
  /** Whether a tier's numbers are the scenario's own, as on the embedded server: then the others show nothing new. */
  readonly usesScenarioLimits: boolean;
}

/** The trials of a load run, in order. */
export function chooseTrials({ scenarios, tiers, usesScenarioLimits, ...choice }: TrialChoice): LoadTrial[] {
  const pairs = scenarios.flatMap((scenario) =>
    tiersOf(scenario, usesScenarioLimits)
      .filter((tier) => tiers.includes(tier))
      .map((tier) => ({ scenario, tier })),
  );
  let turn = 0;
  return pairs.flatMap(({ scenario, tier }): LoadTrial[] => {
    if (choice.engine === "k6" || choice.engine === "autocannon")
      return scenario.engines.includes(choice.engine) ? [{ scenario, tier, engine: choice.engine }] : [];
    const here = scenario.engines.filter((engine) => choice.engines.includes(engine));
    const able = here.length > 0 ? here : scenario.engines;
    const at = choice.engine === "first" || able.length < 2 ? 0 : turn++;
    const engine = able[at % able.length];
    return engine === undefined ? [] : [{ scenario, tier, engine }];
  });
}

const tiersOf = (scenario: Scenario, usesScenarioLimits: boolean): readonly TierName[] =>
  scenarioTiers(scenario).filter(
    (tier) => tier === "enterprise" || !usesScenarioLimits || scenario.enterpriseLimits === null,
  );
