import { sumOf } from "../../base/numbers.ts";
import { defaultCoverageSeed, maxRequestsFor, maxRunTimeMs, type RunBounds } from "../../run/plan/bounds.ts";
import { keysOfUnknownTier } from "../../run/discovery/complete-target.ts";
import { type RunScope, suitesFor } from "../../run/plan/selection.ts";
import { mainKey } from "../../run/plan/needs.ts";
import { type PlannedProbe, planProbes } from "../../run/plan/plan.ts";
import { type CreatedObjects, type LimitTest, stages } from "../../run/probe.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { describeRoles, type Target, type TargetKey } from "../../target/target.ts";
import { findSufficientWaitMinutes, type SimulatedRun, simulateRun } from "./simulate-run.ts";
import { type KeyRow, keyRows, type PlanRow, planRowOf, type TierCost, tierCosts } from "./plan-rows.ts";
import {
  checksByProbe,
  groupSkippedChecks,
  type OpenQuestion,
  openQuestions,
  type SkipGroup,
} from "./skipped-checks.ts";
import { reasonOverBudget } from "../../run/run-probe.ts";
import { type Enabler, type Messages, needsMoreTime } from "../../run/skip-reason.ts";
import { expectedPairCounts } from "../../suites/coverage/count-pairs.ts";
import type { CutPairs } from "../../suites/coverage/plan.ts";
import { pairRequestsSent } from "../../suites/coverage/probe.ts";

/**
 * Counts of combinations of request properties, such as an endpoint with a key. The planned run covers `covered` of
 * `total`. `cut` counts the combinations left out, by what would enable them, e.g. a test clock.
 */
export interface PlannedPairCounts {
  readonly covered: number;
  readonly total: number;
  readonly cut: readonly { readonly needs: string; readonly pairs: number }[];
}

/**
 * Counts of pairs of request properties. `triples` counts combinations of an endpoint, a key and the state of the key's
 * limits, e.g. `hour used up`.
 */
export interface PlannedPairs extends PlannedPairCounts {
  /** Whether the run may cover more pairs: without a test clock, or if `maxRequests` or `maxExecutions` is too low. */
  readonly isMinimum: boolean;
  readonly triples: PlannedPairCounts | null;
  readonly seed: number;
}

interface PlannedPairsInput {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly coverageSeed?: number | undefined;
  readonly short: ReadonlySet<PlannedProbe>;
  readonly maxRequests: number;
  readonly maxExecutions: number | null;
  readonly discoveryRequests: number;
  readonly messages: Messages;
}

function countPlannedPairs(planned: readonly PlannedProbe[], input: PlannedPairsInput): PlannedPairs | null {
  const at = planned.findIndex(({ probe }) => probe === pairRequestsSent);
  if (at === -1) return null;
  const { target, readOnly, messages, coverageSeed: seed = defaultCoverageSeed } = input;
  const inWords = (cut: readonly CutPairs[]): PlannedPairCounts["cut"] =>
    cut.map(({ needs, pairs }) => ({ needs: messages.needs(needs), pairs }));
  const { coveredCount, total, cut, triples } = expectedPairCounts({
    target,
    readOnly,
    seed,
    ...budgetAfterProbes(planned.slice(0, at), input),
  });
  return {
    covered: coveredCount,
    total,
    cut: inWords(cut),
    isMinimum: target.clock === null || cut.some(({ needs }) => needsLargerBudget(needs)),
    triples: triples === undefined ? null : { ...triples, cut: inWords(triples.cut) },
    seed,
  };
}

const needsLargerBudget = (needs: Enabler): boolean =>
  typeof needs === "object" && "need" in needs && (needs.need === "maxRequests" || needs.need === "maxExecutions");

/** A run sends about 15 % more requests than its plan, which leaves out health requests and refused requests. */
const unplannedRequestsFactor = 1.15;

function budgetAfterProbes(before: readonly PlannedProbe[], input: PlannedPairsInput) {
  const { maxRequests, maxExecutions, discoveryRequests, short } = input;
  let left = { requests: maxRequests - discoveryRequests, executions: maxExecutions ?? Number.POSITIVE_INFINITY };
  const tested: LimitTest[] = [];
  for (const planned of before) {
    const { skip, requests, executions } = planned;
    const use = { requests: unplannedRequestsFactor * requests, executions };
    const skipped = skip?.needs ?? (short.has(planned) ? needsMoreTime : reasonOverBudget(use, left)?.needs) ?? null;
    const isSkipped = skip !== null || skipped !== null;
    tested.push(...limitTestsOf(planned, isSkipped ? { kind: "skipped", needs: skipped } : { kind: "ran" }));
    if (!isSkipped) left = { requests: left.requests - use.requests, executions: left.executions - use.executions };
  }
  return { left, tested };
}

const limitTestsOf = ({ probe: { usesUp: state }, tested }: PlannedProbe, result: LimitTest["result"]): LimitTest[] =>
  state === undefined ? [] : [{ state, tier: tested?.tier ?? null, result }];

/** The plan of a run: what it would send, create, wait for and skip. `conformance plan` shows it. */
export interface RunPlan {
  readonly target: { readonly name: string; readonly baseUrl: string; readonly movesClock: boolean };
  /** For each role, such as `slow`: the agent that plays it, and any special path or request body. */
  readonly roles: Readonly<Record<string, string>>;
  /**
   * The discovery before the first probe. `sends` describes its requests, e.g. `GET /usage`. `requests` counts only
   * requests with `key`, without health requests, which do not count towards rate limits.
   */
  readonly look: { readonly key: string; readonly requests: number; readonly sends: readonly string[] };
  readonly probes: readonly PlanRow[];
  readonly keys: readonly KeyRow[];
  /** Numbers of webhooks, alerts and operations that stay on the target: the interface cannot delete them. */
  readonly creates: Required<CreatedObjects>;
  readonly skipped: readonly SkipGroup[];
  readonly pairs: PlannedPairs | null;
  readonly unknown: readonly OpenQuestion[];
  readonly ifTierShown: readonly TierCost[];
  /** Totals of the plan. All but `checks` are estimates. */
  readonly totals: {
    readonly requests: number;
    readonly executions: number;
    readonly waitSeconds: number;
    readonly checks: number;
  };
  readonly shortOfTime: ChecksShortOfTime | null;
  readonly requirements: RequirementSet;
  /** The bounds of the run, including default values. `maxRequests: null` means any number of requests. */
  readonly bounds: Omit<RunBounds, "readOnly" | "requestIds"> & { readonly isReadOnly: boolean };
}

export interface ChecksShortOfTime {
  readonly checks: readonly string[];
  /** A `--max-wait`, in minutes, that leaves every check enough time. `null` if even a day is not enough. */
  readonly enoughMinutes: number | null;
}

export async function planRun(options: RunScope & { readonly target: Target }): Promise<RunPlan | null> {
  const {
    target: named,
    suites: selected,
    messages,
    readOnly,
    selection: _,
    requestIds: _ids,
    requirements,
    coverageSeed,
    ...bounds
  } = options;
  const target = withAgentPlaceholders(named);
  const suites = suitesFor(selected, target);
  const main = mainKey(target);
  if (main === null) return null;
  const most = maxRequestsFor(bounds.maxRequests, target);
  const planned = planProbes(suites, target, options);
  const checks = checksByProbe(suites);
  const { look, requestsByKey } = plannedDiscovery(named, main, readOnly);
  const tried = planned.filter(({ skip }) => skip === null);
  const parts = { target, main, discoveryRequests: look.requests, maxWaitMs: bounds.maxWaitMs };
  const run = target.clock === null ? await simulateRun(tried, parts) : simulatedRunWithTestClock;
  const { isSkipped, skipped } = groupSkippedChecks(planned, checks, {
    target,
    unaffordableProbes: run.unaffordable,
    readOnly,
    fast: bounds.fast,
    messages,
  });
  const probes = inStageOrder(planned)
    .filter((each) => !isSkipped(each))
    .map((each) => planRowOf(each, { target, main, checks: checks.get(each.probe) ?? [] }));
  const keys = keyRows(probes, requestsByKey, target);
  return {
    target: { name: target.name, baseUrl: target.baseUrl, movesClock: target.clock !== null },
    roles: describeRoles(target),
    look,
    probes,
    keys,
    creates: sumOfCreations(probes),
    skipped,
    pairs: countPlannedPairs(inStageOrder(planned), {
      target,
      readOnly,
      coverageSeed,
      short: run.unaffordable,
      maxRequests: most,
      maxExecutions: bounds.maxExecutions,
      discoveryRequests: sumOf([...requestsByKey.values()]),
      messages,
    }),
    unknown: openQuestions(named, probes),
    ifTierShown: main.tier === null && !readOnly ? tierCosts([...checks.keys()], target) : [],
    totals: {
      requests: sumOf(keys.map(({ requests }) => requests)),
      executions: sumOf(probes.map(({ executions }) => executions)),
      waitSeconds: Math.ceil(run.waitedMs / 1000),
      checks: new Set(probes.flatMap((row) => row.checks)).size,
    },
    shortOfTime: await findChecksShortOfTime(run.unaffordable, checks, () => findSufficientWaitMinutes(tried, parts)),
    requirements,
    bounds: {
      ...bounds,
      maxRequests: Number.isFinite(most) ? most : null,
      maxTimeMs: maxRunTimeMs(bounds),
      isReadOnly: readOnly,
    },
  };
}

async function findChecksShortOfTime(
  unaffordable: SimulatedRun["unaffordable"],
  checks: ReturnType<typeof checksByProbe>,
  findEnough: () => Promise<number | null>,
): Promise<ChecksShortOfTime | null> {
  if (unaffordable.size === 0) return null;
  const ids = new Set([...unaffordable].flatMap(({ probe }) => checks.get(probe) ?? []));
  return { checks: [...ids], enoughMinutes: await findEnough() };
}

const simulatedRunWithTestClock: SimulatedRun = { unaffordable: new Set(), waitedMs: 0 };

const listedAgentPlaceholder = "(found through the list)";

function withAgentPlaceholders(target: Target): Target {
  if (target.agentSource === "named" || target.agents.answering !== undefined) return target;
  return {
    ...target,
    agents: { answering: listedAgentPlaceholder, streaming: listedAgentPlaceholder, ...target.agents },
  };
}

const inStageOrder = (planned: readonly PlannedProbe[]): PlannedProbe[] =>
  stages.flatMap((stage) => planned.filter(({ probe }) => probe.stage === stage));

const maxDiscoveryInvokes = 2;

interface PlannedDiscovery {
  readonly look: RunPlan["look"];
  /** Numbers of requests by key name, without health requests. Each key of unknown tier reads usage once. */
  readonly requestsByKey: ReadonlyMap<string, number>;
}

function plannedDiscovery(named: Target, main: TargetKey, isReadOnly: boolean): PlannedDiscovery {
  const others = keysOfUnknownTier(named, main).map(({ name }) => name);
  const look = plannedRequests(named, main, { isReadOnly, others });
  return { look, requestsByKey: new Map([[look.key, look.requests], ...others.map((name) => [name, 1] as const)]) };
}

function plannedRequests(
  { agents, agentSource }: Target,
  main: TargetKey,
  { isReadOnly, others }: { readonly isReadOnly: boolean; readonly others: readonly string[] },
): RunPlan["look"] {
  const tierReads = others.length === 0 ? [] : [`GET /usage for the tier of ${others.join(" and ")}`];
  const reads = ["GET /agents?page=1&limit=2", "GET /usage", ...tierReads];
  if (agents.answering !== undefined)
    return { key: main.name, requests: 2, sends: [...reads, `GET /agents/${agents.answering}/health`] };
  const sends = [...reads, "GET /agents/…/health of the first listed agents"];
  if (agentSource === "named" || isReadOnly) return { key: main.name, requests: 2, sends };
  const invoke = "POST /agents/…/invoke of one of them, or two";
  return { key: main.name, requests: 2 + maxDiscoveryInvokes, sends: [...sends, invoke] };
}

function sumOfCreations(rows: readonly PlanRow[]): Required<CreatedObjects> {
  const sum = (kind: keyof CreatedObjects): number => sumOf(rows.map(({ creates }) => creates[kind] ?? 0));
  return { webhooks: sum("webhooks"), alerts: sum("alerts"), operations: sum("operations") };
}
