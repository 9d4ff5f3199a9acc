import { applyBaseline, type Baseline } from "./failure-policy.ts";
import { type Outcome, outcomes, type Report, type ReportFinding, type Totals, type Verdict } from "./report.ts";

/** How many findings there are of each outcome. */
export function totalsOf(findings: readonly Pick<ReportFinding, "outcome">[]): Totals {
  const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  for (const { outcome } of findings) counts[outcome] += 1;
  return counts;
}

/** Outcomes, worst first. */
export const worstFirst = [
  "fail",
  "error",
  "warning",
  "note",
  "pass",
  "observed",
  "skipped",
] as const satisfies Outcome[];

/** The worst outcome of each clause that has a row, in the order of the rows. */
export function clauseOutcomes(findings: readonly ReportFinding[]): ReadonlyMap<string, Outcome> {
  const worst = new Map<string, Outcome>();
  for (const { clause, outcome } of findings) {
    const known = worst.get(clause);
    if (known === undefined || worstFirst.indexOf(outcome) < worstFirst.indexOf(known)) worst.set(clause, outcome);
  }
  return worst;
}

/** Must clauses of which no row was exercised: each was skipped, or the harness failed at it, or the selection left it out. */
export function unexercisedMusts(findings: readonly ReportFinding[], unselected: readonly string[] = []): string[] {
  const musts = findings.filter(({ level }) => level === "must");
  const exercised = new Set(musts.filter(isExercised).map(({ clause }) => clause));
  return [...new Set([...musts.map(({ clause }) => clause), ...unselected])].filter((clause) => !exercised.has(clause));
}

const isExercised = ({ outcome }: ReportFinding): boolean => outcome !== "skipped" && outcome !== "error";

/**
 * The verdict on the rows of a run. What no clause says, and a load scenario demands, is not the verdict's matter: it fails the run alone.
 *
 * @param unselected must clauses that the selection left out: a run of a part cannot say `conformant`
 * @param stopped why the run ended early, `null` where it did not; what it had found broken by then stays broken
 */
export function verdictOf(
  findings: readonly ReportFinding[],
  stopped: string | null,
  unselected: readonly string[] = [],
): Verdict {
  if (findings.some(({ outcome, level }) => outcome === "fail" && level !== "load")) return "nonconformant";
  if (stopped !== null) return "incomplete";
  return findings.some(isExercised) && unexercisedMusts(findings, unselected).length === 0 ? "conformant" : "partial";
}

/** How a run ended: as it was planned, or before that and why; `unreachable` where nothing could be asked of the target at all. */
export type RunEnd = { readonly kind: "planned" } | { readonly kind: "stopped" | "unreachable"; readonly why: string };

/** @param why the run was stopped early; `null` where it was not */
export const runEndFor = (why: string | null): RunEnd =>
  why === null ? { kind: "planned" } : { kind: "stopped", why };

/** How the run of a report ended. */
export const runEndOf = ({ verdict, stopped }: Pick<Report, "verdict" | "stopped">): RunEnd =>
  verdict === "unreachable" ? { kind: "unreachable", why: stopped ?? "" } : runEndFor(stopped ?? null);

/** Why nothing at all was exercised, where the run ended before that; `null` where something was, or the run had its end. */
export const whyNothingJudged = ({
  findings,
  stopped,
  verdict,
}: Pick<Report, "findings" | "stopped" | "verdict">): string | null =>
  verdict === "unreachable" || (stopped !== undefined && !findings.some(isExercised)) ? (stopped ?? "") : null;

export interface ExitOptions {
  /** A warning counts as broken. */
  readonly strict: boolean;
  /** A must clause that was not exercised counts as broken. */
  readonly complete: boolean;
}

/**
 * The exit code of a run, from what it found: 1 a `must` is broken (or what `strict` and `complete` add), 4 the harness
 * itself failed, 3 nothing was exercised, else 0. What is broken goes before a failure of the harness: it is proven. How the
 * run was stopped (130 where a person did) is the caller's to tell.
 */
export function exitCodeOf(
  { findings, unselected }: Pick<Report, "findings" | "unselected">,
  { strict, complete }: ExitOptions,
): 0 | 1 | 3 | 4 {
  const totals = totalsOf(findings);
  if (totals.fail > 0 || (strict && totals.warning > 0)) return 1;
  if (totals.error > 0) return 4;
  if (!findings.some(isExercised)) return 3;
  return complete && unexercisedMusts(findings, unselected).length > 0 ? 1 : 0;
}

/** How a run is to be taken: what counts as broken, and what is known to be. */
export interface RunExitOptions extends Partial<ExitOptions> {
  readonly baseline?: Baseline;
}

/**
 * The exit code of a run with its baseline: 1 a `must` is broken and not excused, or an entry of the baseline is stale, or what `strict`
 * and `complete` add; 4 the harness itself failed; 3 nothing was exercised, or the run was stopped early; else 0.
 */
export function runExitCode(
  report: Report,
  { strict = false, complete = false, baseline = [] }: RunExitOptions = {},
): 0 | 1 | 3 | 4 {
  if (report.verdict === "unreachable") return 3;
  const { excused, stale } = applyBaseline(report.findings, baseline);
  if (stale.length > 0) return 1;
  const findings = report.findings.filter((finding) => !excused.includes(finding));
  const code = exitCodeOf({ findings, unselected: report.unselected }, { strict, complete });
  if (code === 0 && report.verdict === "incomplete") return 3;
  // All that was exercised is excused: that is a known state, not an empty run.
  return code === 3 && excused.length > 0 ? 0 : code;
}
