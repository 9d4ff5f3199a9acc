import { clauseOf, isClauseId } from "../interface/clauses.ts";
import { harmlessLine } from "../base/harmless.ts";
import type { Outcome, ReportFinding } from "./report.ts";

/** Findings of one clause that said the same thing, and the instances in which they said it. */
export interface Case {
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
  readonly cases: readonly [Case, ...Case[]];
  readonly findings: number;
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
    return { clause, level: first.finding.level, section, says, cases: [first, ...rest], findings: members.length };
  });
}

function casesOf(findings: readonly ReportFinding[]): Case[] {
  const alike = Map.groupBy(findings, ({ check, expected, actual, reason }) =>
    JSON.stringify([check, expected, actual, reason]),
  );
  return [...alike.values()].flatMap((members) => {
    const [finding] = members;
    const instances = members.flatMap(({ instance }) => (instance === undefined ? [] : [harmlessLine(instance, 40)]));
    return finding === undefined ? [] : [{ finding, instances }];
  });
}
