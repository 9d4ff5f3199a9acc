import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import type { Patch } from "../reference/patch.ts";
import { formatBreach } from "../run/judge/finding.ts";
import { type RunOptions, runSuites } from "../run/run.ts";
import type { Suite } from "../run/judge/check.ts";
import type { Judgement } from "../run/judge/judge-evidence.ts";
import type { RunResult } from "../run/run-result.ts";
import type { Messages } from "../run/skip-reason.ts";
import { type ClauseId, clauseOf } from "../spec/clauses.ts";
import { type Target, usableKeys } from "../target/target.ts";
import { affectsLimits, type TrialExtent, type TrialScope } from "./scope.ts";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { startWorker } from "../base/spawn-module.ts";

/** The findings of the suites about the reference server with one patch (a fault or a variant). */
export interface PatchTrial extends Pick<Patch, "name" | "kind" | "section" | "summary"> {
  readonly breaks: readonly string[];
  /** Clauses that the patch breaks in some runs only. */
  readonly mayBreak: readonly string[];
  /** Clauses that a check found broken, whatever their level: `must`, `should` or advisory. */
  readonly red: readonly string[];
  readonly redChecks: readonly string[];
  readonly skipped: readonly string[];
  readonly errors: readonly string[];
  /**
   * The observed readings, as `CLAUSE=reading`, e.g. `WHK-1=answers-201`. A reading is a behaviour that the clause
   * allows.
   */
  readonly readings: readonly string[];
  /** Texts of the findings of the checks in `redChecks`. */
  readonly said: readonly string[];
  /** A sentence for each cost of the run (requests, agent executions) that exceeds its maximum. */
  readonly excess: readonly string[];
}

/**
 * Maximum costs of one trial. Without retries, a run with `all` tiers takes up to 11,000 requests and 650 agent
 * executions.
 */
const maxCosts = {
  all: { requests: 11_300, executions: 680 },
  small: { requests: 3700, executions: 400 },
} as const satisfies Record<TrialScope["tiers"], Pick<RunResult, "requests" | "executions">>;

export function excessOf(
  result: Pick<RunResult, "requests" | "executions">,
  { kind }: Pick<Patch, "kind">,
  tiers: TrialScope["tiers"],
): string[] {
  if (kind === "variant") return [];
  const max = maxCosts[tiers];
  return (["requests", "executions"] as const)
    .filter((cost) => result[cost] > max[cost])
    .map((cost) => `takes ${result[cost]} ${cost}, more than the ${max[cost]} that a run may take`);
}

/** Runs the suites of a scope over HTTP against the reference server with a patch. The server has a virtual clock. */
export async function tryPatch(patch: Patch, { suites, tiers }: TrialScope): Promise<PatchTrial> {
  const embedded = await startEmbedded([patch]);
  try {
    const target = tiers === "all" ? embedded.target : withSmallTiers(embedded.target);
    // With `announces`, a run that finds a limit broken searches for other users of its keys. The trials show that this
    // search does not mistake a fault for another user.
    const result = await runUnbounded(target, suites, { announces: true, deadlines: shortDeadlines });
    // A patch that changes the limits can make a run send more requests. Such a run may cost up to `maxCosts.all`.
    const excess = excessOf(result, patch, affectsLimits(patch) ? "all" : tiers);
    const { name, kind, section, summary, breaks, mayAlsoBreak } = patch;
    return { name, kind, section, summary, breaks, mayBreak: mayAlsoBreak, ...summarise(result), excess };
  } finally {
    await embedded.close();
  }
}

/** Runs suites with no maximum number of requests. Does not wait for rate limits, unless `rest` sets `maxWaitMs`. */
export const runUnbounded = (
  target: Target,
  suites: readonly Suite[],
  rest: Partial<RunOptions> = {},
): Promise<RunResult> =>
  runSuites({
    target,
    suites,
    maxRequests: Number.POSITIVE_INFINITY,
    maxWaitMs: 0,
    signal: new AbortController().signal,
    ...rest,
  });

/** Timeouts of a trial's requests: short, because some faults never send a response. */
export const shortDeadlines = { headMs: 6000, silenceMs: 6000, exchangeMs: 12_000 } as const;

export function describeFinding({ check, instance, finding }: Judgement): string {
  const name = `${check.id}${instance === null ? "" : ` (${instance})`}`;
  if (finding.kind === "breach") return `${name}: ${formatBreach(finding)}`;
  return `${name}: ${"reason" in finding ? coreMessages.reason(finding.reason) : ""}`;
}

/** Removes unrestricted pro and team keys, because using up their hourly limits takes too long. */
export function withSmallTiers(target: Target): Target {
  const general = new Set(usableKeys(target).map(({ name }) => name));
  return {
    ...target,
    keys: Object.fromEntries(
      Object.entries(target.keys).filter(
        ([name, { tier }]) => tier === "free" || tier === "enterprise" || !general.has(name),
      ),
    ),
  };
}

type TrialFindings = Pick<PatchTrial, "red" | "redChecks" | "skipped" | "errors" | "readings" | "said">;

function summarise(result: RunResult): TrialFindings {
  const judgements = result.kind === "judged" ? result.judgements : [];
  const of = (kind: Judgement["finding"]["kind"]) => judgements.filter(({ finding }) => finding.kind === kind);
  const withReason = ({ check, finding }: Judgement): string =>
    `${check.id}: ${"reason" in finding ? coreMessages.reason(finding.reason) : ""}`;
  const red = of("breach");
  return {
    red: unique(red.map(({ check }) => check.clause)),
    redChecks: unique(red.map(({ check }) => check.id)),
    skipped: unique(of("unproven").map(withReason)),
    errors: result.kind === "judged" ? of("error").map(withReason) : [coreMessages.reason(result.sentence)],
    readings: unique(
      of("follows").map(({ check, finding }) => `${check.clause}=${"reading" in finding ? finding.reading : ""}`),
    ),
    said: red.map(describeFinding),
  };
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

export function complaintsOf(trial: PatchTrial): string[] {
  const missed = trial.breaks.filter((clause) => !trial.red.includes(clause));
  const extra = trial.red.filter((clause) => !trial.breaks.includes(clause) && !trial.mayBreak.includes(clause));
  return [
    ...missed.map((clause) => `does not turn ${clause} red`),
    ...extra.map(
      (clause) => `turns ${clause} red as well: ${trial.said.find((text) => text.startsWith(clause)) ?? ""}`,
    ),
    ...trial.errors.map((error) => `harness error: ${error}`),
    ...(trial.kind === "variant" ? skippedMusts(trial).map((text) => `skips ${text}`) : []),
    ...trial.excess,
  ];
}

/**
 * Returns the skipped checks of `must` clauses. If a variant causes a skip, the harness cannot fully judge a real
 * server with the same behaviour.
 */
const skippedMusts = ({ skipped }: PatchTrial): string[] =>
  skipped.filter((text) => clauseOf(/^[A-Z]+-\d+/.exec(text)?.[0] as ClauseId).level === "must");

/** Formats skip reasons with internal names. For example, it prints `{"need":"maxWaitMs"}` instead of `--max-wait`. */
export const coreMessages: Messages = {
  reason: (reason) => (typeof reason === "string" ? reason : reason.why),
  needs: (enabler) => (typeof enabler === "string" ? enabler : JSON.stringify(enabler)),
};

/** Number of trials that each core runs at the same time. A trial spends most of its time waiting. */
const trialsPerCore = 4;

export async function tryGroups(
  groups: readonly (readonly Patch[])[],
  extent: TrialExtent | ((group: readonly Patch[]) => TrialExtent),
  {
    clauses = null,
    onTrial = () => {},
  }: { readonly clauses?: readonly string[] | null; readonly onTrial?: (trial: PatchTrial) => void } = {},
): Promise<PatchTrial[]> {
  const extentOf = typeof extent === "function" ? extent : (): TrialExtent => extent;
  const trials = new Map<readonly Patch[], PatchTrial>();
  const waiting = longestFirst(groups)[Symbol.iterator]();
  const work = async (): Promise<void> => {
    const worker = startWorker(import.meta.url, "trial-worker");
    try {
      for (const group of waiting) {
        const trial = await askWorker(worker, { group, extent: extentOf(group), clauses });
        trials.set(group, trial);
        onTrial(trial);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(trialsPerCore * availableParallelism(), groups.length) }, work));
  return groups.flatMap((group) => trials.get(group) ?? []);
}

/** Puts trials about limits first, because they take longest and would run alone at the end. */
const longestFirst = (groups: readonly (readonly Patch[])[]): readonly (readonly Patch[])[] =>
  groups.toSorted((one, other) => Number(other.some(affectsLimits)) - Number(one.some(affectsLimits)));

export interface TrialRequest {
  readonly group: readonly Pick<Patch, "kind" | "name">[];
  readonly extent: TrialExtent;
  readonly clauses: readonly string[] | null;
}

async function askWorker(worker: Worker, { group, ...how }: TrialRequest): Promise<PatchTrial> {
  worker.postMessage({ ...how, group: group.map(({ kind, name }) => ({ kind, name })) });
  const [trial] = (await once(worker, "message")) as [PatchTrial];
  return trial;
}
