import type { ReportFinding } from "./report.ts";

/** A failure that is known, with a reason. */
export interface KnownFailure {
  /** Id of the check. */
  readonly check: string;
  /** Tier or engine, where it is known for that alone. */
  readonly instance?: string | undefined;
  readonly reason: string;
}

/** Failures that are known, each with a reason. */
export type Baseline = readonly KnownFailure[];

export interface BaselineResult {
  /** Findings whose failure is known. */
  readonly excused: readonly ReportFinding[];
  /** Entries that no longer fail, and must be taken out. */
  readonly stale: Baseline;
}

const isBroken = ({ outcome }: ReportFinding): boolean =>
  outcome === "fail" || outcome === "warning" || outcome === "note";

/** Compares findings with what was known to fail. An entry that was not exercised is neither excused nor stale. */
export function applyBaseline(findings: readonly ReportFinding[], baseline: Baseline): BaselineResult {
  const concerns = (entry: Baseline[number], { check, instance }: ReportFinding): boolean =>
    entry.check === check && (entry.instance === undefined || entry.instance === instance);
  return {
    excused: findings.filter((finding) => isBroken(finding) && baseline.some((entry) => concerns(entry, finding))),
    stale: baseline.filter((entry) => {
      const rows = findings.filter((finding) => concerns(entry, finding));
      return rows.some(({ outcome }) => outcome === "pass") && !rows.some(isBroken);
    }),
  };
}
