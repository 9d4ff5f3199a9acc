import { groupsBy } from "../../base/lists.ts";
import { sumOf } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import { restrictedOrInvalidKeyKinds } from "../../spec/dimensions.ts";
import { coverageOf } from "./coverage.ts";
import { breachText, clauseNames, clausesOf, type DistinctFinding } from "./finding-text.ts";
import type { Outcome, ReportFinding } from "./finding.ts";
import type { Report } from "./report.ts";
import { outside, own, type Text, text } from "./section.ts";

export interface ClauseGroup {
  readonly clause: string;
  readonly level: string;
  /** Section of the interface document that contains the clause; empty for a rule of a load scenario. */
  readonly section: string;
  readonly says: string;
  readonly distinctFindings: readonly [DistinctFinding, ...DistinctFinding[]];
  readonly findingCount: number;
}

export const groupByClause = (findings: readonly ReportFinding[], outcome: Outcome): ClauseGroup[] =>
  groupsBy(
    findings.filter((finding) => finding.outcome === outcome),
    ({ clause }) => clause,
  ).flatMap((members) => {
    const [{ clause, level }] = members;
    const [first, ...rest] = distinctFindingsOf(members);
    if (first === undefined) return [];
    const { section = "", says = "" } = isClauseId(clause) ? clauseOf(clause) : {};
    return { clause, level, section, says, distinctFindings: [first, ...rest], findingCount: members.length };
  });

const distinctFindingsOf = (findings: readonly ReportFinding[]): DistinctFinding[] =>
  groupsBy(findings, ({ check, expected, actual, reason, where }) =>
    JSON.stringify([check, expected, actual, reason, where]),
  ).map((members) => ({ finding: members[0], instances: members.flatMap(({ instance }) => instance ?? []) }));

export const brokenOutcomes = ["fail", "warning", "note"] as const satisfies readonly Outcome[];

const levelOrder = ["must", "load", "should", "advisory"];

export interface BrokenClause {
  readonly outcome: (typeof brokenOutcomes)[number];
  readonly group: ClauseGroup;
}

export const brokenClauses = ({ findings }: Pick<Report, "findings">): BrokenClause[] =>
  brokenOutcomes.flatMap((outcome) =>
    groupByClause(findings, outcome)
      .toSorted((one, other) => levelRank(one) - levelRank(other) || other.findingCount - one.findingCount)
      .map((group) => ({ outcome, group })),
  );

const levelRank = ({ level }: ClauseGroup): number => levelOrder.indexOf(level);

/** A probable cause of failures, such as a missing header, with the clauses that it breaks. */
export interface FailureCause {
  readonly broken: readonly [BrokenClause, ...BrokenClause[]];
  /** Ids of clauses with a check that was skipped because a clause in `broken` is broken. */
  readonly dependent: readonly string[];
}

export function failureCauses({ findings }: Pick<Report, "findings">): FailureCause[] {
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  return groupsBy(brokenClauses({ findings }), (each) => `${each.outcome} ${probableCauseKey(each)}`)
    .map((broken) => ({
      broken,
      dependent: clausesDependentOn(new Set(broken.map(({ group }) => group.clause)), skipped),
    }))
    .toSorted((one, other) => outcomeRank(one) - outcomeRank(other) || harmRank(one) - harmRank(other));
}

/** Returns the causes of failures, the worst for a client first. Returns none if only one clause failed. */
export function causesToFix({ findings }: Pick<Report, "findings">): FailureCause[] {
  const causes = failureCauses({ findings }).filter(({ broken: [{ outcome }] }) => outcome === "fail");
  return causes.length === 1 && causes[0]?.broken.length === 1 ? [] : causes;
}

const outcomeRank = ({ broken: [{ outcome }] }: FailureCause): number => brokenOutcomes.indexOf(outcome);
const harmRank = ({ broken }: FailureCause): number =>
  Math.min(...broken.map(({ group }) => clientHarmRank(group.clause)));

function probableCauseKey({ group }: BrokenClause): string {
  const { finding } = group.distinctFindings[0];
  const endpoints = endpointsAcceptingInvalidKeys(finding);
  if (endpoints.length > 0) return `invalid keys at ${endpoints.join(", ")}`;
  const actual = (finding.actual ?? "").replace(/^on \d+ of \d+ [a-z]+: /, "");
  if (actual.startsWith("missing: ")) return actual;
  const [got] = /^\d{3}\b/.exec(actual) ?? [];
  const [wanted] = /\b\d{3}\b/.exec(finding.expected ?? "") ?? [];
  if (got !== undefined && wanted !== undefined && got !== wanted) return `status ${got}`;
  // Clauses that fail in the same exchange probably have the same cause.
  return finding.evidence?.[0] ?? `${group.clause} ${actual}`;
}

function endpointsAcceptingInvalidKeys({ seen }: ReportFinding): string[] {
  const broken = seen?.cells.filter((cell) => cell.broken > 0) ?? [];
  return broken.every(({ kind }) => kind in restrictedOrInvalidKeyKinds)
    ? [...new Set(broken.map(({ of }) => of))].toSorted()
    : [];
}

/** Returns the ids of other clauses with a skipped check whose skip reason names a broken clause, such as `INV-1`. */
const clausesDependentOn = (broken: ReadonlySet<string>, skipped: readonly ReportFinding[]): string[] =>
  clausesOf(
    skipped.filter(
      ({ clause, reason = "" }) =>
        !broken.has(clause) && [...reason.matchAll(/\b[A-Z]{3,4}-\d+\b/g)].some(([id]) => broken.has(id)),
    ),
  );

/** Names the broken clauses of a cause, at most four of them: `INV-10, ERR-1, ERR-2, ERR-3 and 2 more`. */
export const causeName = ({ broken }: FailureCause): Text =>
  clauseNames(
    broken.map(({ group }) => group.clause),
    4,
  );

export function causeText({ broken }: FailureCause): Text {
  const findings = broken.flatMap(({ group }) => group.distinctFindings.map(({ finding }) => finding));
  const [{ group }] = broken;
  const [, missing] = /\bmissing: (.+)$/.exec(findings[0]?.actual ?? "") ?? [];
  if (missing === undefined || broken.length === 1) return breachText(group.distinctFindings[0].finding, 200);
  const cells = coverageOf(findings).flatMap((row) => row.cells.filter((each) => each.state === "checked"));
  const where = text` on ${sumOf(cells.map((each) => each.broken))} of ${sumOf(cells.map((each) => each.checked))} responses`;
  return text`${outside(missing, 200)} missing${cells.length === 0 ? own("") : where}`;
}

export function impactOfCause({ broken: [{ group }], dependent }: FailureCause): Text {
  const impact = own(clauseImpact(group));
  return dependent.length === 0 ? impact : text`${impact} Not judged because of it: ${clauseNames(dependent, 3)}.`;
}

export const maxCausesShown = 5;

export const furtherCauses = (causes: readonly FailureCause[]): string | null =>
  causes.length <= maxCausesShown ? null : formatCount(causes.length - maxCausesShown, "more cause");

export function causesHeading({ length }: readonly FailureCause[]): string {
  const count =
    length <= maxCausesShown
      ? `To fix: ${formatCount(length, "cause")}`
      : `Fix first: ${maxCausesShown} of ${length} causes`;
  return length === 1 ? count : `${count}, the worst for a client first`;
}

/** Maps the prefix of a clause id, such as `SSE`, to the harm of a breach for a client. The worst harm comes first. */
const impactsByPrefix: ReadonlyMap<string, string> = new Map(
  Object.entries({
    SVC: "Clients reach every endpoint through the base address. If it differs, nothing else works.",
    REQ: "Every client library builds its requests by these rules, so every client is affected.",
    AUTH: "Keys alone decide who is let in, and what a refused client is told.",
    INV: "Every client calls invoke, and its response is parsed by code, not read by people.",
    SSE: "Stream readers act on each event as it comes. A missing or malformed event hangs or breaks them.",
    ERR: "Clients decide by status, code and body whether to retry, to repair the request or to give up.",
    KEY: "Customers hand out restricted keys and trust that these cannot do more.",
    LIM: "Customers pay for this allowance, and it protects other customers.",
    HDR: "Clients pace themselves by these headers. Without the right ones, they send too much or wait for nothing.",
    HOOK: "Receivers drop, duplicate or distrust deliveries that are not as published.",
    WHK: "Without a working webhook a customer does not learn what its agents did.",
    HLT: "Monitors and load balancers take agents in and out of service by this response.",
    LST: "Clients page through agents by these numbers. Wrong numbers make them miss agents or see them twice.",
    USE: "Customers control their spending by this report.",
    OPS: "Clients poll long-running work by this handle and have no other way to its result.",
    BAT: "Clients that submit in batches depend on this form.",
    ALR: "An alert that does not fire is noticed only when the limit is hit.",
    VER: "The version tells clients what they talk to.",
    OTH: "Clients that use this endpoint are affected.",
    CFG: "The service reads an agent from this file. A wrong field stops the deployment or is ignored.",
  }),
);

const prefixOf = (clause: string): string => clause.replace(/-.*/, "");
const prefixRanks = new Map([...impactsByPrefix.keys()].map((prefix, at) => [prefix, at]));

/** Ranks a clause by how much its breach harms a client. The lowest rank is the worst. */
export const clientHarmRank = (clause: string): number => prefixRanks.get(prefixOf(clause)) ?? prefixRanks.size;

function clauseImpact({ clause, level }: ClauseGroup): string {
  if (level === "load") return "The document does not state it, but clients need it from a service under load.";
  return impactsByPrefix.get(prefixOf(clause)) ?? "Clients are written against this sentence of the document.";
}
