import { type ClauseGroup, groupByClause } from "../clause-groups.ts";
import type { Outcome, Report, ReportFinding } from "../report.ts";

/** What calls for someone to do something, worst first. */
export const worrying = ["fail", "warning", "note"] as const satisfies readonly Outcome[];

const levelOrder = ["must", "load", "should", "advisory"] as const;

/** A broken clause and what kind of outcome its breach has. */
export interface ToFix {
  readonly outcome: (typeof worrying)[number];
  readonly group: ClauseGroup;
}

/** Every broken clause: by outcome, then by level, then the one that shows in most places first. */
export const toFix = ({ findings }: Pick<Report, "findings">): ToFix[] =>
  worrying.flatMap((outcome) =>
    groupByClause(findings, outcome)
      .toSorted((one, other) => rank(one) - rank(other) || other.findings - one.findings)
      .map((group) => ({ outcome, group })),
  );

const rank = ({ level }: ClauseGroup): number => levelOrder.findIndex((each) => each === level);

export interface Cause {
  readonly text: string;
  /** Whether the text is what would enable the checks; otherwise it is why they were skipped. */
  readonly isNeed: boolean;
  readonly findings: readonly ReportFinding[];
}

/** What was skipped, by what would enable it or else by why; the cause of most first. */
export function causesOfSkips({ findings }: Pick<Report, "findings">): Cause[] {
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  const groups = Map.groupBy(skipped, ({ needs, reason }) =>
    JSON.stringify([needs ?? null, needs === undefined ? (reason ?? "") : ""]),
  );
  return [...groups.values()]
    .map((members) => {
      const [{ needs, reason = "" } = { reason: "" }] = members;
      return { text: needs ?? reason, isNeed: needs !== undefined, findings: members };
    })
    .toSorted((one, other) => Number(other.isNeed) - Number(one.isNeed) || other.findings.length - one.findings.length);
}
