import { formatCount } from "../../base/text.ts";
import { type BrokenClause, brokenClauses, breachText, clauseImpact } from "./broken-clauses.ts";
import type { Report, ReportFinding } from "./report.ts";
import { joinFirstTexts, outside, own, type Text, text } from "./text.ts";

/** Broken clauses that probably have one cause, such as one missing header. Mending it mends them all. */
export interface FailureCause {
  readonly broken: readonly [BrokenClause, ...BrokenClause[]];
  /** Clauses that could not be judged because one of the broken clauses is broken. */
  readonly dependent: readonly string[];
}

/** Families of clauses by the prefix of their ids, the worst for a client first. */
const worstFamilies: readonly string[] =
  "SVC REQ AUTH INV SSE ERR KEY LIM HDR HOOK WHK HLT LST USE OPS BAT ALR VER OTH".split(" ");

/** Groups the broken clauses of a report by their probable cause, the worst for a client first. */
export function failureCauses({ findings }: Pick<Report, "findings">): FailureCause[] {
  const groups = Map.groupBy(brokenClauses({ findings }), (each) => `${each.outcome} ${causeOf(each)}`);
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  return [...groups.values()]
    .flatMap(([first, ...others]): FailureCause[] => {
      if (first === undefined) return [];
      const broken: FailureCause["broken"] = [first, ...others];
      return [{ broken, dependent: dependentOn(new Set(broken.map(({ group }) => group.clause)), skipped) }];
    })
    .toSorted((one, other) => outcomeRank(one) - outcomeRank(other) || familyRank(one) - familyRank(other));
}

/**
 * Returns the causes of failures for a list of what to fix first. Empty if there is only one broken clause, because the
 * clause itself is then shown first.
 */
export function causesToFix({ findings }: Pick<Report, "findings">): FailureCause[] {
  const causes = failureCauses({ findings }).filter(({ broken: [{ outcome }] }) => outcome === "fail");
  return causes.length === 1 && causes[0]?.broken.length === 1 ? [] : causes;
}

const outcomeRank = ({ broken: [{ outcome }] }: FailureCause): number => ["fail", "warning", "note"].indexOf(outcome);

function familyRank({ broken }: FailureCause): number {
  return Math.min(...broken.map(({ group }) => clientRank(group.clause)));
}

/** Ranks a clause by how much its breach harms a client. The lowest rank is the worst. */
export function clientRank(clause: string): number {
  const rank = worstFamilies.indexOf(clause.replace(/-.*/, ""));
  return rank === -1 ? worstFamilies.length : rank;
}

/** Returns a text that is equal for broken clauses with the same probable cause. */
function causeOf({ group }: BrokenClause): string {
  const { finding } = group.distinctFindings[0];
  const actual = (finding.actual ?? "").replace(/^on \d+ of \d+ [a-z]+: /, "");
  if (actual.startsWith("missing: ")) return actual;
  const [got] = /^\d{3}\b/.exec(actual) ?? [];
  const [wanted] = /\b\d{3}\b/.exec(finding.expected ?? "") ?? [];
  if (got !== undefined && wanted !== undefined && got !== wanted) return `status ${got}`;
  // Other breaches have one cause if the same exchange shows them.
  return finding.evidence?.[0] ?? `${group.clause} ${actual}`;
}

/** Returns the clauses whose checks were skipped, with a reason that names one of these broken clauses. */
const dependentOn = (broken: ReadonlySet<string>, skipped: readonly ReportFinding[]): string[] => [
  ...new Set(
    skipped.flatMap(({ clause, reason = "" }) =>
      !broken.has(clause) && [...reason.matchAll(/\b[A-Z]{3,4}-\d+\b/g)].some(([id]) => broken.has(id)) ? [clause] : [],
    ),
  ),
];

/** The broken clauses of a cause, such as `INV-10, ERR-1 and 3 more`. */
export const causeName = ({ broken }: FailureCause): Text =>
  joinFirstTexts(
    broken.map(({ group }) => outside(group.clause, 60)),
    4,
  );

/** Says in one sentence what was expected and what happened. */
export const causeText = ({ broken: [{ group }] }: FailureCause): Text =>
  breachText(group.distinctFindings[0].finding, 200);

/** Says why the cause matters to a client, and which clauses could not be judged because of it. */
export function causeImpact({ broken: [{ group }], dependent }: FailureCause): Text {
  const impact = own(clauseImpact(group.distinctFindings[0].finding));
  if (dependent.length === 0) return impact;
  const names = joinFirstTexts(
    dependent.map((clause) => outside(clause, 60)),
    3,
  );
  return text`${impact} Not judged because of it: ${names}.`;
}

/** Number of causes that every format shows first. */
export const maxCausesShown = 5;

/** Says how many causes are not among the first ones; `null` if there are no more. */
export const furtherCauses = (causes: readonly FailureCause[]): string | null =>
  causes.length <= maxCausesShown ? null : formatCount(causes.length - maxCausesShown, "more cause");
