import { decisiveExitCode, exitCodes } from "../../base/exit-codes.ts";
import { applyBaseline, type Baseline } from "./failure-policy.ts";
import {
  isExercised,
  type Outcome,
  outcomes,
  type Report,
  type ReportFinding,
  type Totals,
  type Verdict,
} from "./report.ts";

/** Counts the findings of each outcome. */
export function totalsOf(findings: readonly Pick<ReportFinding, "outcome">[]): Totals {
  const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  for (const { outcome } of findings) counts[outcome] += 1;
  return counts;
}

export const worstFirst = [
  "fail",
  "error",
  "warning",
  "note",
  "pass",
  "observed",
  "skipped",
] as const satisfies Outcome[];

/**
 * The worst outcome of each clause, in the order of the findings. A clause about pairs of request properties does not
 * pass if some of these pairs was not tried.
 */
export function clauseOutcomes(findings: readonly ReportFinding[]): ReadonlyMap<string, Outcome> {
  const worst = new Map<string, Outcome>();
  for (const { clause, outcome } of findings) {
    const known = worst.get(clause);
    if (known === undefined || worstFirst.indexOf(outcome) < worstFirst.indexOf(known)) worst.set(clause, outcome);
  }
  for (const { clause } of findings.filter(hasUnseenPairs))
    if (worst.get(clause) === "pass") worst.set(clause, "skipped");
  return worst;
}

const hasUnseenPairs = ({ unseenPairs = 0 }: Pick<ReportFinding, "unseenPairs">): boolean => unseenPairs > 0;

/** The parts of a finding that a verdict follows from. */
type JudgedFinding = Pick<ReportFinding, "clause" | "level" | "outcome" | "unseenPairs">;

/**
 * Must clauses that no finding exercised: the check was skipped, `--only` or `--skip` left it out, or the harness
 * failed. A clause about pairs of request properties is not exercised if some of these pairs was not tried.
 */
export function unexercisedMusts(findings: readonly JudgedFinding[], unselected: readonly string[] = []): string[] {
  const musts = findings.filter(({ level }) => level === "must");
  const exercised = new Set(musts.filter(isExercised).map(({ clause }) => clause));
  for (const { clause } of musts.filter(hasUnseenPairs)) exercised.delete(clause);
  return [...new Set([...musts.map(({ clause }) => clause), ...unselected])].filter((clause) => !exercised.has(clause));
}

/**
 * Findings of must and should clauses that `--only` names by the exact id of the clause or of a check, and that were not exercised: the
 * first finding for each id. A glob or the title of a suite names no clause.
 */
export function unexercisedNamed({ findings, selection }: Pick<Report, "findings" | "selection">): ReportFinding[] {
  const names = new Set(selection?.only.map((pattern) => pattern.toUpperCase()));
  return [...names].flatMap((name) => {
    const named = findings.filter(
      ({ clause, check, level }) =>
        (level === "must" || level === "should") && [clause, check].some((id) => id.toUpperCase() === name),
    );
    return named.some(isExercised) ? [] : named.slice(0, 1);
  });
}

/**
 * The verdict on the findings of a run. An unmet demand of a load scenario does not change the verdict, although it fails the run.
 *
 * @param stopped why the run ended early; `null` if it did not
 * @param unselected must clauses that the selection left out; with any of these, the verdict is at best `partial`
 */
export function verdictOf(
  findings: readonly JudgedFinding[],
  stopped: string | null,
  unselected: readonly string[] = [],
): Verdict {
  if (findings.some(({ outcome, level }) => outcome === "fail" && level !== "load")) return "nonconformant";
  if (stopped !== null) return "incomplete";
  return findings.some(isExercised) && unexercisedMusts(findings, unselected).length === 0 ? "conformant" : "partial";
}

/** The end of a run: as planned, or early for a reason. `unreachable` means that the target could not be judged at all. */
export type RunEnd = { readonly kind: "planned" } | { readonly kind: "stopped" | "unreachable"; readonly why: string };

/**
 * Returns how a run ended.
 *
 * @param why reason why the run was stopped early; `null` if it was not
 */
export const runEndFor = (why: string | null): RunEnd =>
  why === null ? { kind: "planned" } : { kind: "stopped", why };

/** How the run of a report ended. */
export const runEndOf = ({ verdict, stopped }: Pick<Report, "verdict" | "stopped">): RunEnd =>
  verdict === "unreachable" ? { kind: "unreachable", why: stopped ?? "" } : runEndFor(stopped ?? null);

/** The input of a verdict. */
interface VerdictInput {
  readonly findings: readonly JudgedFinding[];
  readonly end: RunEnd;
  readonly unselected: readonly string[];
  /** Whether a load run is invalid. If so, the verdict is at best `partial`. */
  readonly hasInvalidLoad: boolean;
}

/** The verdict of any report, whether of a run or of load. */
export function verdictWith({ findings, end, unselected, hasInvalidLoad }: VerdictInput): Verdict {
  if (end.kind === "unreachable") return "unreachable";
  const verdict = verdictOf(findings, end.kind === "planned" ? null : end.why, unselected);
  return verdict === "conformant" && hasInvalidLoad ? "partial" : verdict;
}

/** Whether a load run of a report is invalid. */
export const hasInvalidLoad = (load: Report["load"] | null): boolean =>
  load?.runs.some(({ validity }) => validity.invalid !== null) === true;

/** Why nothing was judged, for a run that ended early; `null` if a check was exercised, or the run ended as planned. */
export const whyNothingJudged = ({
  findings,
  stopped,
  verdict,
}: Pick<Report, "findings" | "stopped" | "verdict">): string | null =>
  verdict === "unreachable" || (stopped !== undefined && !findings.some(isExercised)) ? (stopped ?? "") : null;

export interface ExitOptions {
  /** Whether a warning fails the run. */
  readonly strict: boolean;
  /** Whether a must clause that was not exercised fails the run. */
  readonly complete: boolean;
}

/**
 * The exit code for the findings of a run. The caller handles interruptions (130).
 *
 * - 1: a `must` is broken, or a condition of `strict` or `complete` is not met. A broken clause is proven, so 1 comes before 4.
 * - 4: the harness itself failed.
 * - 3: nothing was exercised.
 * - 0: otherwise.
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

/**
 * Whether the run was stopped because the harness or its machine failed. The error of a check is then the reason for
 * the stop.
 */
const isStoppedByHarness = ({ findings, stopped }: Report): boolean =>
  findings.some(({ outcome, reason }) => outcome === "error" && reason !== undefined && reason === stopped);

/** Options for the exit code of a run. */
export interface RunExitOptions extends Partial<ExitOptions> {
  readonly baseline?: Baseline;
}

/**
 * The exit code of a run with a baseline. It is that of {@link exitCodeOf} for the findings that the baseline does not excuse, with these
 * additions:
 *
 * - 1: also for a stale entry of the baseline.
 * - 3: also if the run was stopped early, but not by a failure of the harness. Also if `--only` names a must or should clause that was not
 * exercised.
 * - 0: also if all exercised findings are excused.
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
  if (report.verdict === "incomplete" && !isStoppedByHarness(report))
    return decisiveExitCode([code, exitCodes.nothingExercised]);
  if (code === 0 && unexercisedNamed(report).length > 0) return 3;
  // A run whose exercised findings are all excused still exercised something, so it does not end with 3.
  return code === 3 && excused.length > 0 ? 0 : code;
}
