import { isBroken, type ReportFinding } from "./report.ts";

/** A known failure, as the baseline lists it. */
export interface KnownFailure {
  /** Id of the check. */
  readonly check: string;
  /** Tier or engine. Absent: the failure is known for all of them. */
  readonly instance?: string | undefined;
  readonly reason: string;
}

/** The known failures of a target, which do not fail a run. */
export type Baseline = readonly KnownFailure[];

export interface BaselineResult {
  /** Broken findings that are known failures. */
  readonly excused: readonly ReportFinding[];
  /** Known failures that no longer occur. The user has to remove them from the baseline. */
  readonly stale: Baseline;
}

const isAbout = (entry: KnownFailure, { check, instance }: ReportFinding): boolean =>
  entry.check === check && (entry.instance === undefined || entry.instance === instance);

/** Compares findings with the known failures. A known failure whose check was not exercised is neither excused nor stale. */
export const applyBaseline = (findings: readonly ReportFinding[], baseline: Baseline): BaselineResult => ({
  excused: findings.filter((finding) => isBroken(finding) && baseline.some((entry) => isAbout(entry, finding))),
  stale: baseline.filter((entry) => {
    const rows = findings.filter((finding) => isAbout(entry, finding));
    return rows.some(({ outcome }) => outcome === "pass") && !rows.some(isBroken);
  }),
});

/** Rules for which findings fail a run. All formats and the exit code use them. */
export interface FailurePolicy {
  /** Whether a warning fails the run. */
  readonly strict: boolean;
  /** Known failures, which do not fail the run. A known failure that no longer occurs does. */
  readonly baseline: Baseline;
}

export const defaultPolicy: FailurePolicy = { strict: false, baseline: [] };

/** The status of a finding in formats that list tests, such as JUnit. */
export type TestStatus =
  | { readonly kind: "failed" }
  | { readonly kind: "known"; readonly reason: string }
  | { readonly kind: "harness failed" }
  | { readonly kind: "skipped" }
  /** The check passed, observed something, or found a broken clause that does not fail the run. */
  | { readonly kind: "passed" };

export interface TestStatuses {
  readonly of: (finding: ReportFinding) => TestStatus;
  /** Known failures that no longer occur. They fail the run, so that the user removes them from the baseline. */
  readonly stale: Baseline;
}

/** Returns the status of each finding of a report. */
export function testStatusesOf(findings: readonly ReportFinding[], { strict, baseline }: FailurePolicy): TestStatuses {
  const { excused, stale } = applyBaseline(findings, baseline);
  const known = new Set(excused);
  const reasonOf = (finding: ReportFinding): string => baseline.find((entry) => isAbout(entry, finding))?.reason ?? "";
  const statusOf = (finding: ReportFinding): TestStatus => {
    const { outcome } = finding;
    if (outcome === "error") return { kind: "harness failed" };
    if (outcome === "skipped") return { kind: "skipped" };
    if (outcome !== "fail" && !(strict && outcome === "warning")) return { kind: "passed" };
    return known.has(finding) ? { kind: "known", reason: reasonOf(finding) } : { kind: "failed" };
  };
  return { of: statusOf, stale };
}
