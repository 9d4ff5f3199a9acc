import { line, UsageError } from "../../base/line.ts";
import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import {
  countsIn,
  firstRequirementSet,
  isRequirementSet,
  newestRequirementsOfAnyParty,
  newestRequirements,
  type RequirementSet,
} from "../../spec/clause.ts";
import { formatCount } from "../../base/text.ts";
import { breachText, findingName } from "./finding-text.ts";
import { isBrokenOrError, outcomes, type ReportFinding } from "./finding.ts";
import { partyOf, type Report } from "./report.ts";
import { fact, type LabelledValue, type Section, outside, outsideProse, own, text } from "./section.ts";
import { hasInvalidLoad, runEndOf, totalsOf, reportVerdict } from "./verdict.ts";

export const sinceOf = ({ since = firstRequirementSet }: Pick<ReportFinding, "since">): string => since;

export const sinceAfterFirstSet = (since: RequirementSet): Pick<ReportFinding, "since"> =>
  since === firstRequirementSet ? {} : { since };

/**
 * Returns `INV-3` for the check `INV-3/in requests of 1.1`, which judges only requests that set 1.1 added. Returns
 * `null` if the id of the check names no requirement set.
 */
export const checkIdWithoutSet = (check: string): string | null =>
  /^(.+)[/ ]in requests of \d+\.\d+$/.exec(check)?.[1] ?? null;

export const splitFindings = (
  findings: readonly ReportFinding[],
  requirements: string,
): Pick<Report, "findings" | "upcoming"> => ({
  findings: findings.filter((finding) => countsIn(sinceOf(finding), requirements)),
  upcoming: findings.filter((finding) => !countsIn(sinceOf(finding), requirements)),
});

/** Whether a requirement set contains the clause. `true` for rules of load scenarios, e.g. `load/slow-refusals`. */
export const isClauseIn = (clause: string, requirements: string): boolean =>
  !isClauseId(clause) || countsIn(clauseOf(clause).since, requirements);

/** Returns the requirement set of a report, or the newest set if the report's set is unknown. */
export const requirementsOf = ({ suite }: Pick<Report, "suite">): RequirementSet =>
  isRequirementSet(suite.requirements) ? suite.requirements : newestRequirements;

/** Returns the newest requirement set. For a server, skips later sets that add no requirement for servers. */
export const newestRequirementsFor = (report: Pick<Report, "party">): RequirementSet =>
  partyOf(report) === "server" ? newestRequirements : newestRequirementsOfAnyParty;

/**
 * Judges a report by an earlier requirement set: checks of later sets do not count.
 *
 * @throws {UsageError} if `requirements` is later than the report's set
 */
export function narrowReport(report: Report, requirements: RequirementSet): Report {
  const { suite } = report;
  if (!countsIn(requirements, suite.requirements))
    throw new UsageError(
      line`The report of ${report.target.name} (${report.started}) was judged by requirement set ${suite.requirements}. To judge its evidence by ${requirements}: conformance rejudge --requirements ${requirements}.`,
    );
  const { findings, upcoming } = splitFindings([...report.findings, ...report.upcoming], requirements);
  const unselected = report.unselected.filter((clause) => isClauseIn(clause, requirements));
  // Drops the verdicts for profiles, which no longer match. Renderers compute them again from the findings.
  const { profiles: _before, ...rest } = report;
  return {
    ...rest,
    suite: { ...suite, requirements },
    verdict: reportVerdict({
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

export function upcomingSection({ suite, upcoming }: Pick<Report, "suite" | "upcoming">): Section {
  const counts = outcomes.flatMap((outcome) => {
    const count = upcoming.filter((each) => each.outcome === outcome).length;
    return count === 0 ? [] : [`${count} ${outcome}`];
  });
  const summary = fact(
    "Upcoming",
    text`${own(formatCount(upcoming.length, "check"))} not in requirement set ${outside(suite.requirements, 40)}, so not counted: ${own(counts.join(", "))}`,
  );
  const broken = upcoming.filter(isBrokenOrError).map((finding): LabelledValue => ({
    label: text`${outside(findingName(finding), 100)} ${own(finding.outcome)}`,
    value: text`counts from requirement set ${outside(sinceOf(finding), 40)}; ${finding.outcome === "error" ? outsideProse(finding.reason ?? "") : breachText(finding)}`,
  }));
  const facts = upcoming.length === 0 ? [] : [summary, ...broken];
  return { name: "upcoming", title: "Upcoming", blocks: [{ kind: "facts", facts }] };
}
