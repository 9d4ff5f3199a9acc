import { applyBaseline, type Baseline } from "./baseline.ts";
import type { ReportFinding } from "./report.ts";

/** How a run was judged, where a format tells what failed it: by the same flags its exit code came of. */
export interface FailurePolicy {
  /** A warning fails the run. */
  readonly strict: boolean;
  /** Failures that are known do not fail it, and an entry that no longer fails does. */
  readonly baseline: Baseline;
}

export const defaultPolicy: FailurePolicy = { strict: false, baseline: [] };

/** What a finding is to those who count failures. */
export type TestStatus =
  | { readonly kind: "failed" }
  /** Broken, and known to be. */
  | { readonly kind: "known"; readonly reason: string }
  | { readonly kind: "harness failed" }
  | { readonly kind: "skipped" }
  /** A pass, an observation, or a breach that fails nothing. */
  | { readonly kind: "passed" };

export interface TestStatuses {
  readonly of: (finding: ReportFinding) => TestStatus;
  /** Entries of the baseline that no longer fail, and so fail the run. */
  readonly stale: Baseline;
}

/** Tells of each finding of a report whether it failed the run. */
export function testStatusesOf(findings: readonly ReportFinding[], { strict, baseline }: FailurePolicy): TestStatuses {
  const { excused, stale } = applyBaseline(findings, baseline);
  const known = new Set(excused);
  const reasonOf = ({ check, instance }: ReportFinding): string =>
    baseline.find((entry) => entry.check === check && (entry.instance ?? instance) === instance)?.reason ?? "";
  const standingOf = (finding: ReportFinding): TestStatus => {
    const { outcome } = finding;
    if (outcome === "error") return { kind: "harness failed" };
    if (outcome === "skipped") return { kind: "skipped" };
    if (outcome !== "fail" && !(strict && outcome === "warning")) return { kind: "passed" };
    return known.has(finding) ? { kind: "known", reason: reasonOf(finding) } : { kind: "failed" };
  };
  return { of: standingOf, stale };
}
