import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import {
  countsIn,
  firstRequirements,
  isRequirementSet,
  latestRequirements,
  newestRequirements,
  type RequirementSet,
} from "../../spec/requirements.ts";
import { partyOf, type Report, type ReportFinding } from "./report.ts";
import { hasInvalidLoad, runEndOf, totalsOf, verdictWith } from "./verdict.ts";

/** The requirement set in which a finding's check first counts. */
export const sinceOf = ({ since = firstRequirements }: Pick<ReportFinding, "since">): string => since;

/**
 * The `since` field of a finding. Absent for the first requirement set, because reports of versions without sets lack
 * the field.
 */
export const sinceField = (since: RequirementSet): Pick<ReportFinding, "since"> =>
  since === firstRequirements ? {} : { since };

/**
 * The earlier check that a check repeats for requests of a later set, as in `INV-3/in requests of 1.1`; `null` if it
 * repeats none. Such a check has a finding only if it judged more cases than the earlier check, and that one holds.
 */
export const repeatedCheck = (check: string): string | null =>
  /^(.+)[/ ]in requests of \d+\.\d+$/.exec(check)?.[1] ?? null;

/** Splits findings into those that count in a requirement set, and those whose checks only a later set has. */
export const splitFindings = (
  findings: readonly ReportFinding[],
  requirements: string,
): Pick<Report, "findings" | "upcoming"> => ({
  findings: findings.filter((finding) => countsIn(sinceOf(finding), requirements)),
  upcoming: findings.filter((finding) => !countsIn(sinceOf(finding), requirements)),
});

/** Whether a clause is in a requirement set. A demand of a load scenario is no clause, and counts in every set. */
export const isClauseIn = (clause: string, requirements: string): boolean =>
  !isClauseId(clause) || countsIn(clauseOf(clause).since, requirements);

/** The requirement set by which a report was judged. If this version does not know that set, its newest set. */
export const requirementsOf = ({ suite }: Pick<Report, "suite">): RequirementSet =>
  isRequirementSet(suite.requirements) ? suite.requirements : newestRequirements;

/** The newest set for the party of a report. Earlier sets have nothing for other parties than servers. */
export const newestFor = (report: Pick<Report, "party">): RequirementSet =>
  partyOf(report) === "server" ? newestRequirements : latestRequirements;

/**
 * Returns a report as an earlier requirement set judges it: checks of later sets no longer count.
 *
 * @throws {UsageError} if the report was judged by an even earlier set, because its run may lack checks
 */
export function narrowReport(report: Report, requirements: RequirementSet): Report {
  const { suite } = report;
  if (!countsIn(requirements, suite.requirements))
    throw new UsageError(
      line`The report of ${report.target.name} (${report.started}) was judged by requirement set ${suite.requirements}. To judge its evidence by ${requirements}: conformance rejudge --requirements ${requirements}.`,
    );
  const { findings, upcoming } = splitFindings([...report.findings, ...report.upcoming], requirements);
  const unselected = report.unselected.filter((clause) => isClauseIn(clause, requirements));
  return {
    ...report,
    suite: { ...suite, requirements },
    verdict: verdictWith({
      findings,
      end: runEndOf(report),
      unselected,
      hasInvalidLoad: hasInvalidLoad(report.load),
    }),
    totals: totalsOf(findings),
    findings,
    upcoming,
    unselected,
    untestable: report.untestable.filter(({ clause }) => isClauseIn(clause, requirements)),
  };
}
