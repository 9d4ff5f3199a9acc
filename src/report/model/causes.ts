import { formatCount } from "../../base/text.ts";
import { rejectedKeyKinds } from "../../spec/rejected-key-kinds.ts";
import { type BrokenClause, brokenClauses, breachText, clauseImpact } from "./broken-clauses.ts";
import type { Report, ReportFinding } from "./report.ts";
import { joinFirstTexts, outside, own, type Text, text } from "./text.ts";

/** Broken clauses that probably have one cause, such as one missing header. Fixing the cause fixes all of them. */
export interface FailureCause {
  readonly broken: readonly [BrokenClause, ...BrokenClause[]];
  /** Ids of clauses whose checks were skipped because one of these clauses is broken. */
  readonly dependent: readonly string[];
}

/** Prefixes of clause ids, such as `INV`. Clauses whose failure harms a client most come first. */
const prefixesMostHarmfulFirst: readonly string[] =
  "SVC REQ AUTH INV SSE ERR KEY LIM HDR HOOK WHK HLT LST USE OPS BAT ALR VER OTH".split(" ");

/**
 * Groups the broken clauses of a report by their probable cause. Sorts the causes by outcome (failures first), and then by harm to a
 * client.
 */
export function failureCauses({ findings }: Pick<Report, "findings">): FailureCause[] {
  const groups = Map.groupBy(brokenClauses({ findings }), (each) => `${each.outcome} ${probableCauseKey(each)}`);
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  return [...groups.values()]
    .flatMap(([first, ...others]): FailureCause[] => {
      if (first === undefined) return [];
      const broken: FailureCause["broken"] = [first, ...others];
      return [{ broken, dependent: clausesDependentOn(new Set(broken.map(({ group }) => group.clause)), skipped) }];
    })
    .toSorted((one, other) => outcomeRank(one) - outcomeRank(other) || harmRank(one) - harmRank(other));
}

/**
 * Returns the probable causes of failures, for the list of what to fix first. Leaves out warnings and notes. Empty if only one clause
 * failed, because every format shows that clause first anyway.
 */
export function causesToFix({ findings }: Pick<Report, "findings">): FailureCause[] {
  const causes = failureCauses({ findings }).filter(({ broken: [{ outcome }] }) => outcome === "fail");
  return causes.length === 1 && causes[0]?.broken.length === 1 ? [] : causes;
}

const outcomeRank = ({ broken: [{ outcome }] }: FailureCause): number => ["fail", "warning", "note"].indexOf(outcome);

function harmRank({ broken }: FailureCause): number {
  return Math.min(...broken.map(({ group }) => clientRank(group.clause)));
}

/** Ranks a clause by how much its breach harms a client. The lowest rank is the worst. */
export function clientRank(clause: string): number {
  const rank = prefixesMostHarmfulFirst.indexOf(clause.replace(/-.*/, ""));
  return rank === -1 ? prefixesMostHarmfulFirst.length : rank;
}

/** Returns a text that is equal for broken clauses with the same probable cause. */
function probableCauseKey({ group }: BrokenClause): string {
  const { finding } = group.distinctFindings[0];
  const endpoints = endpointsAcceptingInvalidKeys(finding);
  if (endpoints.length > 0) return `invalid keys at ${endpoints.join(", ")}`;
  const actual = (finding.actual ?? "").replace(/^on \d+ of \d+ [a-z]+: /, "");
  if (actual.startsWith("missing: ")) return actual;
  const [got] = /^\d{3}\b/.exec(actual) ?? [];
  const [wanted] = /\b\d{3}\b/.exec(finding.expected ?? "") ?? [];
  if (got !== undefined && wanted !== undefined && got !== wanted) return `status ${got}`;
  // Clauses broken in another way have the same cause if the same exchange shows them.
  return finding.evidence?.[0] ?? `${group.clause} ${actual}`;
}

/** Returns the endpoints at which a finding is broken, if it is broken only by requests without a valid key. */
function endpointsAcceptingInvalidKeys({ seen }: ReportFinding): string[] {
  const broken = seen?.cells.filter((cell) => cell.broken > 0) ?? [];
  return broken.every(({ kind }) => kind in rejectedKeyKinds)
    ? [...new Set(broken.map(({ of }) => of))].toSorted()
    : [];
}

/** Returns the clauses whose checks were skipped, with a reason that names one of these broken clauses. */
const clausesDependentOn = (broken: ReadonlySet<string>, skipped: readonly ReportFinding[]): string[] => [
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

/** Maximum number of causes in the list of what to fix first, in every format. */
export const maxCausesShown = 5;

/** Returns how many causes the list of what to fix first leaves out, such as `2 more causes`; `null` if none. */
export const furtherCauses = (causes: readonly FailureCause[]): string | null =>
  causes.length <= maxCausesShown ? null : formatCount(causes.length - maxCausesShown, "more cause");

/** Returns the heading of a list of causes: `To fix: 3 causes`, or `Fix first: 5 of 9 causes`. */
export const causesHeading = (causes: readonly FailureCause[]): string =>
  causes.length <= maxCausesShown
    ? `To fix: ${formatCount(causes.length, "cause")}`
    : `Fix first: ${maxCausesShown} of ${causes.length} causes`;
