import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import type { Patch } from "../reference/patch.ts";
import { formatBreach } from "../run/judge/finding.ts";
import { runSuites } from "../run/run.ts";
import type { RunResult } from "../run/run-result.ts";
import type { Messages } from "../run/skip-reason.ts";
import { type ClauseId, clauseOf } from "../spec/clauses.ts";
import { type Target, usableKeys } from "../target/target.ts";
import { affectsLimits, type TrialScope } from "./scope.ts";

/** The findings of the suites about the reference server with one patch (a fault or a variant). */
export interface PatchTrial {
  readonly name: string;
  readonly kind: Patch["kind"];
  readonly section: string;
  readonly summary: string;
  /** Clauses that the patch declares to break. */
  readonly breaks: readonly string[];
  /** Clauses that the patch may break as well, in some runs. */
  readonly mayBreak: readonly string[];
  /** Clauses that turned red: they were reported as failed, as a warning or as a note. */
  readonly red: readonly string[];
  /** Checks that turned red. */
  readonly redChecks: readonly string[];
  /** Checks that were skipped, with their reasons. */
  readonly skipped: readonly string[];
  readonly errors: readonly string[];
  /** The readings that the server followed, as `CLAUSE=reading`. */
  readonly readings: readonly string[];
  /** Texts of the red checks, for the person who corrects a fault or a check. */
  readonly said: readonly string[];
  /** A sentence for each cost of the run that is too high: requests, or agent executions. */
  readonly excess: readonly string[];
}

/**
 * The most requests and agent executions that a run may cost, with the keys of all tiers or of the small ones, whatever
 * fault the server has.
 */
const maxCosts = {
  all: { requests: 11_000, executions: 650 },
  small: { requests: 3700, executions: 400 },
} as const satisfies Record<TrialScope["tiers"], Pick<RunResult, "requests" | "executions">>;

/**
 * Clauses about concurrent requests and refusals. If a fault breaks one of them, a run costs more: its probes use all
 * slots again after a pause, to be sure.
 */
const slotClauses: ReadonlySet<string> = new Set(["LIM-5", "LIM-6", "LIM-12", "LIM-17", "LIM-18"]);
const maxSlotExecutions = 900;

/**
 * The limits of faults that cost more requests. With `hour-too-short`, the hour ends while a large tier is used up, so
 * even more requests are needed.
 */
const maxRequestsOf: Readonly<Record<string, number>> = { "hour-too-short": 12_000 };

/**
 * Faults that hide whether GET requests count against limits. The run then uses up a limit with invokes only, and each
 * invoke runs an agent.
 */
const faultsHidingReadCounts: ReadonlySet<string> = new Set([
  "only-turns-count",
  "only-turns-are-limited",
  "remaining-stands-still",
]);
const maxInvokeExecutions = 9000;

function maxExecutionsOf({ name, breaks }: CostlyPatch, otherwise: number): number {
  if (faultsHidingReadCounts.has(name)) return maxInvokeExecutions;
  return breaks.some((clause) => slotClauses.has(clause)) ? maxSlotExecutions : otherwise;
}

function maxCostsOf(patch: CostlyPatch, tiers: TrialScope["tiers"]) {
  const { requests, executions } = maxCosts[tiers];
  return { requests: maxRequestsOf[patch.name] ?? requests, executions: maxExecutionsOf(patch, executions) };
}

type CostlyPatch = Pick<Patch, "kind" | "name" | "breaks">;

/** Describes the costs that are too high. Variants may cost more, because a legal burst may double what is admitted. */
export function excessOf(
  result: Pick<RunResult, "requests" | "executions">,
  patch: CostlyPatch,
  tiers: TrialScope["tiers"],
): string[] {
  if (patch.kind === "variant") return [];
  const max = maxCostsOf(patch, tiers);
  return (["requests", "executions"] as const)
    .filter((cost) => result[cost] > max[cost])
    .map((cost) => `takes ${result[cost]} ${cost}, more than the ${max[cost]} that a run may take`);
}

/** Runs the suites of the scope against the reference server with the patch, over real HTTP on a virtual clock. */
export async function tryPatch(patch: Patch, { suites, tiers }: TrialScope): Promise<PatchTrial> {
  const embedded = await startEmbedded([patch]);
  try {
    const result = await runSuites({
      target: tiers === "all" ? embedded.target : withSmallTiers(embedded.target),
      suites,
      maxRequests: Number.POSITIVE_INFINITY,
      maxWaitMs: 0,
      signal: new AbortController().signal,
      // Lets the run look for other clients of its keys, as a run against a real target does. No fault of limits may be
      // mistaken for such a client.
      announces: true,
      // Short, because some faults never send a response. Long enough for a busy machine.
      deadlines: { headMs: 6000, silenceMs: 6000, exchangeMs: 12_000 },
    });
    // The maximum cost of the small tiers assumes that the server's limits are right.
    const excess = tiers === "small" && affectsLimits(patch) ? [] : excessOf(result, patch, tiers);
    return { ...describePatch(patch), ...summarise(result), excess };
  } finally {
    await embedded.close();
  }
}

/** Removes the keys of pro and team, unless they are restricted. Their hourly limits are thousands of requests. */
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

const describePatch = ({ name, kind, section, summary, breaks, mayAlsoBreak }: Patch) => ({
  name,
  kind,
  section,
  summary,
  breaks,
  mayBreak: mayAlsoBreak,
});

type TrialFindings = Pick<PatchTrial, "red" | "redChecks" | "skipped" | "errors" | "readings" | "said">;

function summarise(result: RunResult): TrialFindings {
  if (result.kind !== "judged")
    return {
      red: [],
      redChecks: [],
      skipped: [],
      errors: [coreMessages.reason(result.sentence)],
      readings: [],
      said: [],
    };
  const of = (...kinds: readonly string[]) => result.judgements.filter(({ finding }) => kinds.includes(finding.kind));
  const red = of("breach");
  return {
    red: unique(red.map(({ check }) => check.clause)),
    redChecks: unique(red.map(({ check }) => check.id)),
    skipped: unique(
      of("unproven").map(
        ({ check, finding }) => `${check.id}: ${"reason" in finding ? coreMessages.reason(finding.reason) : ""}`,
      ),
    ),
    errors: of("error").map(
      ({ check, finding }) => `${check.id}: ${"reason" in finding ? coreMessages.reason(finding.reason) : ""}`,
    ),
    readings: unique(
      of("follows").map(({ check, finding }) => `${check.clause}=${"reading" in finding ? finding.reading : ""}`),
    ),
    said: red.map(({ check, instance, finding }) =>
      finding.kind === "breach"
        ? `${check.id}${instance === null ? "" : ` (${instance})`}: ${formatBreach(finding)}`
        : "",
    ),
  };
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

/** Describes how the findings differ from those that the patch declares. */
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
 * Returns the skipped checks of `must` clauses. If a legal variant caused one, legal servers like it would get no
 * verdict on that clause.
 */
const skippedMusts = ({ skipped }: PatchTrial): string[] =>
  skipped.filter((text) => clauseOf(/^[A-Z]+-\d+/.exec(text)?.[0] as ClauseId).level === "must");

/** Writes skip reasons with their internal names, because the selftest has no flags to name. */
export const coreMessages: Messages = {
  reason: (reason) => (typeof reason === "string" ? reason : reason.why),
  needs: (enabler) => (typeof enabler === "string" ? enabler : JSON.stringify(enabler)),
};
