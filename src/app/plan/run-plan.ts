import { maxRequestsFor, maxRunTimeMs, type RunBounds } from "../../run/plan/bounds.ts";
import { keysOfUnknownTier } from "../../run/discovery/key-tiers.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import { mainKey } from "../../run/plan/needs.ts";
import { type PlannedProbe, planProbes } from "../../run/plan/plan.ts";
import { stages } from "../../run/probe.ts";
import type { CreatedObjects } from "../../run/probe.ts";
import type { RequirementSet } from "../../spec/requirements.ts";
import { describeRoles, type Target, type TargetKey } from "../../target/target.ts";
import { type DryRun, dryRun, enoughMinutes } from "./dry-run.ts";
import { type PairsAhead, pairsAhead } from "./pairs-ahead.ts";
import { type KeyRow, keyRows, type PlanRow, rowOf, type TierCost, tierCosts } from "./plan-rows.ts";
import { type OpenQuestion, openQuestions, checksByProbe, type SkipGroup, skipsOf } from "./skips.ts";

/** The plan of a run. Planning sends nothing. */
export interface RunPlan {
  readonly target: { readonly name: string; readonly baseUrl: string; readonly movesClock: boolean };
  /** For each role, the agent and the request that makes the agent play the role. */
  readonly roles: Readonly<Record<string, string>>;
  /** Discovery, which precedes the first probe. `requests` counts only those requests that count against the key's limits. */
  readonly look: { readonly key: string; readonly requests: number; readonly sends: readonly string[] };
  readonly probes: readonly PlanRow[];
  readonly keys: readonly KeyRow[];
  /** Numbers of resources that the run leaves on the target, because the interface has no operation that deletes them. */
  readonly creates: Required<CreatedObjects>;
  readonly skipped: readonly SkipGroup[];
  /** The combinations of request properties that the run will send; `null` if the selected checks need none. */
  readonly pairs: PairsAhead | null;
  /** Questions that only the run itself can answer. */
  readonly unknown: readonly OpenQuestion[];
  /** Additional cost of testing each tier, if the main key turns out to have that tier. */
  readonly ifTierShown: readonly TierCost[];
  /** Sums of the plan. `executions` and `waitSeconds` are estimates. */
  readonly totals: {
    readonly requests: number;
    readonly executions: number;
    readonly waitSeconds: number;
    readonly checks: number;
  };
  /** The checks that would probably be skipped for lack of waiting time; `null` if there are none. */
  readonly shortOfTime: ShortOfTime | null;
  /** The requirement set that the run would judge by. */
  readonly requirements: RequirementSet;
  /** The bounds of the run, with defaults filled in. `maxRequests` is `null` for an unlimited number. */
  readonly bounds: Omit<RunBounds, "readOnly" | "requestIds"> & { readonly isReadOnly: boolean };
}

export interface ShortOfTime {
  /** Ids of the checks that would be skipped, for at least one tier. */
  readonly checks: readonly string[];
  /** Smallest maximum wait, in minutes, with which no check would be skipped. `null` if even a day is not enough. */
  readonly enoughMinutes: number | null;
}

export interface PlanOptions extends RunScope {
  readonly target: Target;
}

/** Plans a run. Returns `null` if the target has no key for ordinary requests. */
export async function planRun(options: PlanOptions): Promise<RunPlan | null> {
  const {
    target: named,
    suites,
    messages,
    readOnly,
    selection: _,
    requestIds: _ids,
    requirements,
    coverageSeed,
    ...bounds
  } = options;
  const { maxWaitMs } = bounds;
  const target = withFoundAgent(named);
  const main = mainKey(target);
  if (main === null) return null;
  const most = maxRequestsFor(bounds.maxRequests, target);
  const planned = planProbes(suites, target, options);
  const checks = checksByProbe(suites);
  const look = discoveryOf(named, main, readOnly);
  const tried = planned.filter(({ skip }) => skip === null);
  const parts = { target, main, discoveryRequests: look.requests, maxWaitMs };
  const run = target.clock === null ? await dryRun(tried, parts) : dryRunWithTestClock;
  const { isSkipped, skipped } = skipsOf(planned, checks, {
    target,
    unaffordableProbes: run.unaffordable,
    readOnly: readOnly,
    fast: bounds.fast,
    messages: messages,
  });
  const probes = inStageOrder(planned)
    .filter((each) => !isSkipped(each))
    .map((each) => rowOf(each, { target, main, checks: checks.get(each.probe) ?? [] }));
  const keys = keyRows(probes, look, target);
  return {
    target: { name: target.name, baseUrl: target.baseUrl, movesClock: target.clock !== null },
    roles: describeRoles(target),
    look,
    probes,
    keys,
    creates: sumOfCreations(probes),
    skipped,
    pairs: pairsAhead(inStageOrder(planned), {
      target,
      readOnly,
      coverageSeed,
      short: run.unaffordable,
      maxRequests: most,
      maxExecutions: bounds.maxExecutions,
      discoveryRequests: look.requests,
      messages,
    }),
    unknown: openQuestions(named, probes),
    ifTierShown: main.tier === null && !readOnly ? tierCosts([...checks.keys()], target) : [],
    totals: {
      requests: keys.reduce((sum, { requests }) => sum + requests, 0),
      executions: probes.reduce((sum, { executions }) => sum + executions, 0),
      waitSeconds: Math.ceil(run.waitedMs / 1000),
      checks: new Set(probes.flatMap((row) => row.checks)).size,
    },
    shortOfTime: await checksShortOfTime(run.unaffordable, checks, () => enoughMinutes(tried, parts)),
    requirements,
    bounds: {
      ...bounds,
      maxRequests: Number.isFinite(most) ? most : null,
      maxTimeMs: maxRunTimeMs(bounds),
      isReadOnly: readOnly,
    },
  };
}

async function checksShortOfTime(
  unaffordable: DryRun["unaffordable"],
  checks: ReturnType<typeof checksByProbe>,
  findEnough: () => Promise<number | null>,
): Promise<ShortOfTime | null> {
  if (unaffordable.size === 0) return null;
  const ids = new Set([...unaffordable].flatMap(({ probe }) => checks.get(probe) ?? []));
  return { checks: [...ids], enoughMinutes: await findEnough() };
}

/** A run against a target with a test clock does not wait, so this constant replaces a simulation. */
const dryRunWithTestClock: DryRun = { unaffordable: new Set(), waitedMs: 0 };

const listedAgentPlaceholder = "(found through the list)";

/** Adds placeholders for the agents that a run would choose from the target's list. */
function withFoundAgent(target: Target): Target {
  if (target.agentSource === "named" || target.agents.answering !== undefined) return target;
  return {
    ...target,
    agents: { answering: listedAgentPlaceholder, streaming: listedAgentPlaceholder, ...target.agents },
  };
}

const inStageOrder = (planned: readonly PlannedProbe[]): PlannedProbe[] =>
  stages.flatMap((stage) => planned.filter(({ probe }) => probe.stage === stage));

/** Maximum number of invokes that discovery sends to find a listed agent that answers. */
const maxDiscoveryInvokes = 2;

function discoveryOf(named: Target, main: TargetKey, isReadOnly: boolean): RunPlan["look"] {
  const { agents, agentSource } = named;
  const others = keysOfUnknownTier(named, main).map(({ name }) => name);
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
  const sum = (kind: keyof CreatedObjects): number =>
    rows.reduce((total, { creates }) => total + (creates[kind] ?? 0), 0);
  return { webhooks: sum("webhooks"), alerts: sum("alerts"), operations: sum("operations") };
}
