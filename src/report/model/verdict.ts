import type { Tone } from "./section.ts";
import { decisiveExitCode, exitCodes } from "../../base/process-end.ts";
import { isOffered, type Profile, profileOf } from "../../spec/profiles.ts";
import { applyBaseline, type Baseline } from "./failure-policy.ts";
import { isExercised, type Outcome, outcomes, type ReportFinding } from "./finding.ts";
import type { Report, Totals, Verdict, ProfileResult } from "./report.ts";

export function totalsOf(findings: readonly Pick<ReportFinding, "outcome">[]): Totals {
  const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  for (const { outcome } of findings) counts[outcome] += 1;
  return counts;
}

export const outcomesWorstFirst = [
  "fail",
  "error",
  "warning",
  "note",
  "pass",
  "observed",
  "skipped",
] as const satisfies Outcome[];

/**
 * Returns the worst outcome of each clause. A passed clause with untested pairs of request properties counts as
 * `skipped`.
 */
export function clauseOutcomes(findings: readonly ReportFinding[]): ReadonlyMap<string, Outcome> {
  const worst = new Map<string, Outcome>();
  for (const { clause, outcome } of findings) {
    const known = worst.get(clause);
    if (known === undefined || outcomesWorstFirst.indexOf(outcome) < outcomesWorstFirst.indexOf(known))
      worst.set(clause, outcome);
  }
  for (const { clause } of findings.filter(hasUnseenPairs))
    if (worst.get(clause) === "pass") worst.set(clause, "skipped");
  return worst;
}

/** Counts clauses by outcome. A clause counts once, by its worst finding. */
export function clauseCountsOf(findings: readonly ReportFinding[]) {
  const clauses = [...clauseOutcomes(findings).values()];
  const count = (...wanted: readonly Outcome[]): number => clauses.filter((each) => wanted.includes(each)).length;
  return {
    passed: count("pass"),
    broken: count("fail"),
    warned: count("warning"),
    noted: count("note"),
    observed: count("observed"),
    notExercised: count("skipped", "error"),
  };
}

export const failedClauses = (findings: readonly ReportFinding[]): string[] =>
  [...clauseOutcomes(findings)].flatMap(([clause, outcome]) => (outcome === "fail" ? [clause] : []));

const hasUnseenPairs = ({ unseenPairs = 0 }: Pick<ReportFinding, "unseenPairs">): boolean => unseenPairs > 0;

type JudgedFinding = Pick<ReportFinding, "clause" | "level" | "outcome" | "unseenPairs" | "exempt">;

/**
 * Returns the must clauses that no check exercised, including those in `unselected`. Ignores clauses that the target
 * file exempts. A clause with untested pairs of request properties counts as not exercised.
 */
export function unexercisedMusts(findings: readonly JudgedFinding[], unselected: readonly string[] = []): string[] {
  const musts = findings.filter(({ level, exempt }) => level === "must" && exempt !== true);
  const exercised = new Set(musts.filter(isExercised).map(({ clause }) => clause));
  for (const { clause } of musts.filter(hasUnseenPairs)) exercised.delete(clause);
  return [...new Set([...musts.map(({ clause }) => clause), ...unselected])].filter((clause) => !exercised.has(clause));
}

type ProfileChoice = Partial<Pick<Report, "target" | "selection">>;

export function whyProfileLeftOut(
  profile: Profile,
  { target, selection }: ProfileChoice,
): "not offered" | "not selected" | null {
  if (!isOffered(profile, target?.offers ?? null)) return "not offered";
  return selection?.profiles === undefined || selection.profiles.includes(profile) ? null : "not selected";
}

/** Returns the must clauses that no check exercised, without those of profiles that are not offered or not selected. */
export const unexercisedOfferedMusts = (report: Pick<Report, "findings" | "unselected"> & ProfileChoice): string[] =>
  unexercisedMusts(report.findings, report.unselected).filter((clause) => {
    const profile = profileOf(clause);
    return profile === null || whyProfileLeftOut(profile, report) === null;
  });

export function unexercisedNamedFindings({
  findings,
  selection,
}: Pick<Report, "findings" | "selection">): ReportFinding[] {
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
 * Returns the verdict on the findings of a run. If a must clause was not selected, the best possible verdict is
 * `partial`.
 */
export function verdictOf(
  findings: readonly JudgedFinding[],
  stopped: string | null,
  unselected: readonly string[] = [],
): Verdict {
  const hasBroken = findings.some(({ outcome, level }) => outcome === "fail" && level !== "load");
  const isComplete = findings.some(isExercised) && unexercisedMusts(findings, unselected).length === 0;
  return decideVerdict(hasBroken, stopped !== null, isComplete);
}

export function decideVerdict(
  hasBroken: boolean,
  isStopped: boolean,
  isComplete: boolean,
): Exclude<Verdict, "unreachable"> {
  if (hasBroken) return "nonconformant";
  if (isStopped) return "incomplete";
  return isComplete ? "conformant" : "partial";
}

export const verdictTones: Readonly<Record<Verdict | ProfileResult["verdict"], Tone>> = {
  conformant: "good",
  nonconformant: "bad",
  partial: "caution",
  incomplete: "caution",
  unreachable: "bad",
  "not offered": "plain",
  "not selected": "plain",
};

/** A sign for each verdict, for readers who cannot see colours. */
export const verdictMarks: Readonly<Record<Verdict, string>> = {
  conformant: "✓",
  nonconformant: "✕",
  partial: "◐",
  incomplete: "◐",
  unreachable: "–",
};

/** The way in which a run ended: as planned, or early for a reason. `unreachable`: the target could not be judged. */
export type RunEnd = { readonly kind: "planned" } | { readonly kind: "stopped" | "unreachable"; readonly why: string };

export const runEndFromReason = (why: string | null): RunEnd =>
  why === null ? { kind: "planned" } : { kind: "stopped", why };

export const runEndOf = ({ verdict, stopped }: Pick<Report, "verdict" | "stopped">): RunEnd =>
  verdict === "unreachable" ? { kind: "unreachable", why: stopped ?? "" } : runEndFromReason(stopped ?? null);

interface VerdictInput {
  readonly findings: readonly JudgedFinding[];
  readonly end: RunEnd;
  readonly unselected: readonly string[];
  /** Whether a load run of the report is invalid, so that the verdict is at best `partial`. */
  readonly hasInvalidLoad: boolean;
}

export function reportVerdict({ findings, end, unselected, hasInvalidLoad }: VerdictInput): Verdict {
  if (end.kind === "unreachable") return "unreachable";
  const verdict = verdictOf(findings, end.kind === "planned" ? null : end.why, unselected);
  return verdict === "conformant" && hasInvalidLoad ? "partial" : verdict;
}

export const hasInvalidLoad = (load: Report["load"] | null): boolean =>
  load?.runs.some(({ validity }) => validity.invalid !== null) === true;

export const whyNothingJudged = ({
  findings,
  stopped,
  verdict,
}: Pick<Report, "findings" | "stopped" | "verdict">): string | null =>
  verdict === "unreachable" || (stopped !== undefined && !findings.some(isExercised)) ? (stopped ?? "") : null;

interface ExitOptions {
  readonly strict: boolean;
  /** Whether an unexercised must clause fails the run. Clauses of profiles not offered or not selected do not count. */
  readonly complete: boolean;
}

/** Returns the exit code that follows from the findings of a run. The caller sets the code 130 for an interruption. */
export function exitCodeOf(
  report: Pick<Report, "findings" | "unselected"> & ProfileChoice,
  { strict, complete }: ExitOptions,
): 0 | 1 | 3 | 4 {
  const { findings } = report;
  const totals = totalsOf(findings);
  if (totals.fail > 0 || (strict && totals.warning > 0)) return 1;
  if (totals.error > 0) return 4;
  if (!findings.some(isExercised)) return 3;
  return complete && unexercisedOfferedMusts(report).length > 0 ? 1 : 0;
}

const isStoppedByHarness = ({ findings, stopped }: Report): boolean =>
  findings.some(({ outcome, reason }) => outcome === "error" && reason !== undefined && reason === stopped);

/** Options for the exit code of a run: stricter rules, and a baseline of known failures. */
export interface RunExitOptions extends Partial<ExitOptions> {
  readonly baseline?: Baseline;
}

/**
 * Returns the exit code of a run, ignoring the failures in the baseline. Returns 1 if a check in the baseline now
 * passes, unless its entry has expired or says `flaky`.
 */
export function runExitCode(
  report: Report,
  { strict = false, complete = false, baseline = [] }: RunExitOptions = {},
): 0 | 1 | 3 | 4 {
  if (report.verdict === "unreachable") return 3;
  const { excused, stale } = applyBaseline(report.findings, baseline);
  if (stale.length > 0) return 1;
  const findings = report.findings.filter((finding) => !excused.includes(finding));
  const code = exitCodeOf({ ...report, findings }, { strict, complete });
  if (report.verdict === "incomplete" && !isStoppedByHarness(report))
    return decisiveExitCode([code, exitCodes.nothingExercised]);
  if (code === 0 && unexercisedNamedFindings(report).length > 0) return 3;
  // Code 3 means that nothing was exercised. Excused findings were exercised, although `findings` lacks them.
  return code === 3 && excused.length > 0 ? 0 : code;
}
