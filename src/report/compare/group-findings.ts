import { clauseSentence } from "../model/finding-text.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import type { FindingIdentity } from "./comparison.ts";

/** A line with a label, such as `was: pass`. Control characters in it are escaped. */
export interface LabelledText {
  readonly label: string;
  readonly text: string;
}

/** Checks of one clause that have the same result. */
interface ChecksWithResult {
  /** The checks, with their instances in brackets: `SSE-5/name (free, pro)`. */
  readonly checks: string;
  readonly rows: readonly LabelledText[];
}

/** A clause and its findings, with equal results grouped. */
export interface ClauseWithResults {
  readonly clause: string;
  readonly level: string;
  readonly says: string;
  readonly cases: readonly ChecksWithResult[];
}

/** Groups findings by clause, and within a clause by result, so that each result is shown once. */
export function groupByClauseAndResult<F extends FindingIdentity>(
  findings: readonly F[],
  rowsOf: (finding: F) => readonly LabelledText[],
): ClauseWithResults[] {
  return [...Map.groupBy(findings, ({ clause }) => clause)].map(([clause, members]) => ({
    clause: sanitizeLine(clause, 60),
    level: members[0]?.level ?? "",
    says: clauseSentence(clause),
    cases: [...Map.groupBy(members, (finding) => JSON.stringify(rowsOf(finding)))].flatMap(([, alike]) => {
      const [first] = alike;
      return first === undefined ? [] : [{ checks: formatChecks(alike), rows: rowsOf(first) }];
    }),
  }));
}

/** Formats findings as `SSE-5/name (free, pro), SSE-5/other`: each check once, with its instances. */
export function formatChecks(findings: readonly Pick<FindingIdentity, "check" | "instance">[], max = 12): string {
  const texts = [...Map.groupBy(findings, ({ check }) => check)].map(([check, members]) => {
    const instances = members.flatMap(({ instance }) => (instance === null ? [] : [sanitizeLine(instance, 60)]));
    return `${sanitizeLine(check, 100)}${instances.length === 0 ? "" : ` (${joinFirst(instances, 4)})`}`;
  });
  return joinFirst(texts, max);
}

/** Formats the clauses of findings as `SSE-5, SSE-6 and 3 more`. */
export const formatClauses = (findings: readonly Pick<FindingIdentity, "clause">[], max = 12): string =>
  joinFirst([...new Set(findings.map(({ clause }) => sanitizeLine(clause, 60)))], max);
