import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Outcome, ReportFinding } from "./report.ts";

/** Findings of one clause that said the same thing, and the instances in which they said it. */
export interface DistinctFinding {
  readonly finding: ReportFinding;
  readonly instances: readonly string[];
}

/** What the findings of one outcome said of one clause. */
export interface ClauseGroup {
  readonly clause: string;
  readonly level: string;
  readonly section: string;
  readonly says: string;
  /** At least one. */
  readonly distinctFindings: readonly [DistinctFinding, ...DistinctFinding[]];
  readonly findingCount: number;
}

/** Findings of one outcome by clause, in the order of the report. */
export function groupByClause(findings: readonly ReportFinding[], outcome: Outcome): ClauseGroup[] {
  const byClause = Map.groupBy(
    findings.filter((finding) => finding.outcome === outcome),
    ({ clause }) => clause,
  );
  return [...byClause].flatMap(([clause, members]) => {
    const [first, ...rest] = casesOf(members);
    if (first === undefined) return [];
    const { section = "", says = "" } = isClauseId(clause) ? clauseOf(clause) : {};
    return {
      clause,
      level: first.finding.level,
      section,
      says,
      distinctFindings: [first, ...rest],
      findingCount: members.length,
    };
  });
}

function casesOf(findings: readonly ReportFinding[]): DistinctFinding[] {
  const alike = Map.groupBy(findings, ({ check, expected, actual, reason }) =>
    JSON.stringify([check, expected, actual, reason]),
  );
  return [...alike.values()].flatMap((members) => {
    const [finding] = members;
    const instances = members.flatMap(({ instance }) => (instance === undefined ? [] : [sanitizeLine(instance, 40)]));
    return finding === undefined ? [] : [{ finding, instances }];
  });
}
