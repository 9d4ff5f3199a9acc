import { rounded, sumOf } from "../base/numbers.ts";
import type { TierLimits, TierName } from "../spec/tiers.ts";
import { atSpeed, type EngineName, type Flow, requestCount, type Scenario, scenarioTiers } from "./scenarios.ts";

export interface LoadTrial {
  readonly scenario: Scenario;
  readonly tier: TierName;
  readonly engine: EngineName;
}

export const trialName = ({ scenario, tier, engine }: LoadTrial): string => `${scenario.name}-${tier}-${engine}`;

export const evidenceFileOf = (trial: LoadTrial): string => `load/${trialName(trial)}.json`;

export interface TrialChoice {
  readonly scenarios: readonly Scenario[];
  readonly tiers: readonly TierName[];
  /** `first`: the first installed engine of the scenario. `in turns`: the engine changes from trial to trial. */
  readonly engine: EngineName | "first" | "in turns";
  /** Installed engines. If none supports a scenario, `chooseTrials` still returns its trials. The run skips them. */
  readonly engines: readonly EngineName[];
  /** Whether the server can apply the limits that a scenario demands. The embedded server can. */
  readonly usesScenarioLimits: boolean;
}

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
    const installed = scenario.engines.filter((engine) => choice.engines.includes(engine));
    const candidates = installed.length > 0 ? installed : scenario.engines;
    const at = choice.engine === "first" || candidates.length < 2 ? 0 : turn++;
    const engine = candidates[at % candidates.length];
    return engine === undefined ? [] : [{ scenario, tier, engine }];
  });
}

const tiersOf = (scenario: Scenario, usesScenarioLimits: boolean): readonly TierName[] =>
  scenarioTiers(scenario).filter(
    (tier) => tier === "enterprise" || !usesScenarioLimits || scenario.enterpriseLimits === null,
  );

export interface Estimate {
  readonly trial: LoadTrial;
  /** Estimated number of requests: the harness's own, and those of all flows that are not in `openEnded`. */
  readonly requests: number;
  /** Descriptions of flows that send an unknown number of requests, e.g. `as many as 5 connections can in 60 s`. */
  readonly openEnded: readonly string[];
  /** Whether the trial may exceed a key's limit per minute or its limit of concurrent requests. */
  readonly isBeyondLimit: boolean;
  readonly seconds: number;
  readonly connections: number;
}

/** Approximate seconds to start k6, or to start the process that sends with autocannon. */
const startSeconds = { k6: 1.5, autocannon: 0.5 } as const;

export function estimateTrial(trial: LoadTrial, limits: TierLimits, speed: number): Estimate {
  const { scenario, engine } = trial;
  const flows = scenario.flows(limits);
  const known = flows.reduce((sum, flow) => sum + (requestCount(flow) ?? 0), 0);
  return {
    trial,
    requests: known + instrumentationRequests(trial),
    openEnded: flows.flatMap((flow) => describeOpenEnded(flow, limits, speed) ?? []),
    isBeyondLimit: flows.some((flow) => exceedsLimits(flow, limits)) || maxOnOneKey(flows) > limits.perMinute,
    seconds: scenario.seconds(limits) / speed + startSeconds[engine],
    connections: sumOf(flows.map((flow) => connectionsOf(atSpeed(flow, speed)))),
  };
}

/** Assumed duration of a request in a `paced` flow, in seconds. Used to estimate the number of connections. */
const pacedSeconds = 2;

function connectionsOf({ shape }: Flow): number {
  switch (shape.kind) {
    case "at once":
      return shape.requests;
    case "shared":
    case "closed":
      return shape.atOnce;
    case "paced":
      return Math.ceil(shape.perSecond * pacedSeconds);
    case "in turn":
    case "after refusal":
      return 1;
  }
}

function instrumentationRequests({ scenario: { claims, needs } }: LoadTrial): number {
  const usageReads = claims.some((claim) => claim === "USE-7" || claim === "USE-8") ? 2 : 0;
  return 1 + usageReads + (needs.includes("receiver") ? 1 : 0);
}

function describeOpenEnded({ shape }: Flow, { perMinute }: TierLimits, speed: number): string | null {
  if (shape.kind === "closed")
    return `as many as ${shape.atOnce} ${shape.atOnce === 1 ? "connection" : "connections"} can in ${rounded(shape.seconds / speed, 1)} s`;
  if (shape.kind === "after refusal") return `${shape.rounds} times until one is refused (about ${perMinute + 3} each)`;
  return null;
}

function exceedsLimits({ operation, shape }: Flow, { concurrent }: TierLimits): boolean {
  if (operation.kind === "health") return false;
  if (shape.kind === "closed" || shape.kind === "after refusal") return true;
  return shape.kind === "at once" && shape.requests > concurrent;
}

function maxOnOneKey(flows: readonly Flow[]): number {
  const limited = flows.filter(({ operation }) => operation.kind !== "health");
  const sums = [...Map.groupBy(limited, ({ key }) => key).values()].map((members) =>
    members.reduce((sum, flow) => sum + (flow.shape.kind === "paced" ? 0 : (requestCount(flow) ?? 0)), 0),
  );
  return Math.max(0, ...sums);
}
