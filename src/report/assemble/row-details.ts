import type { Unproven } from "../../run/finding.ts";
import type { SaidLack } from "../../run/lack.ts";
import type { Judgement } from "../../run/judge.ts";
import type { Outcome, ReportFinding, RowLevel } from "../report.ts";

const breachOutcomes: Readonly<Record<RowLevel, Outcome>> = {
  must: "fail",
  should: "warning",
  advisory: "note",
  gap: "observed",
  policy: "error",
  load: "fail",
};

/** What a row says besides its place. */
export type Details = Pick<ReportFinding, "outcome"> & Partial<ReportFinding>;

/** What a check said, all of it in words. */
export type SaidFinding = Exclude<Judgement["finding"], Unproven> | ({ readonly kind: "unproven" } & SaidLack);

/** A finding in the words of a row; its level tells how much a breach weighs. */
export function detailsOf(finding: SaidFinding, level: RowLevel): Details {
  switch (finding.kind) {
    case "holds":
      return { outcome: "pass" };
    case "follows":
      return { outcome: "pass", reading: finding.reading };
    case "breach":
      return { outcome: breachOutcomes[level], expected: finding.expected, actual: finding.actual };
    case "observed":
      return { outcome: "observed", reason: finding.text };
    case "error":
      return { outcome: "error", reason: finding.reason };
    case "inapplicable":
      return { outcome: "skipped", reason: finding.reason };
    case "unproven":
      return {
        outcome: "skipped",
        reason: finding.reason,
        ...(finding.needs === null ? {} : { needs: finding.needs }),
      };
  }
}
