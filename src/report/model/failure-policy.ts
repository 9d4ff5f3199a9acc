import { z } from "zod";

import type { DeepReadonly } from "../../base/json.ts";
import { isBroken, type ReportFinding } from "./finding.ts";
import { dayOf } from "../../base/duration.ts";

export const baselineSchema = z.strictObject({
  $schema: z.string().optional(),
  known: z.array(
    z.strictObject({
      check: z.string().min(1).describe("Id of the check, such as SSE-5."),
      instance: z
        .string()
        .min(1)
        .describe("Tier or engine. Without it, the failure is known for all of them.")
        .optional(),
      reason: z.string().min(1).describe("Why it fails, and who mends it."),
      until: z.iso.date().describe("The last day on which the entry counts, in UTC.").optional(),
      flaky: z.boolean().describe("The check passes at times, which is then no error. Default: false.").optional(),
    }),
  ),
});

/** An entry of a baseline file: a check that is known to fail, and why. */
export type KnownFailure = DeepReadonly<z.infer<typeof baselineSchema>["known"][number]>;

/** The entries of a baseline file: known failures of a target, which do not fail a run. */
export type Baseline = readonly KnownFailure[];

interface BaselineResult {
  /** Known failures that still count: all but the expired ones. */
  readonly valid: Baseline;
  readonly excused: readonly ReportFinding[];
  /** Known failures that no longer occur. The run fails until the user removes them from the baseline. */
  readonly stale: Baseline;
  /** Known failures whose date `until` has passed. They excuse no finding. */
  readonly expired: Baseline;
}

const matchesFinding = (entry: KnownFailure, { check, instance }: ReportFinding): boolean =>
  entry.check === check && (entry.instance === undefined || entry.instance === instance);

/** Compares findings with a baseline. An entry is stale if its check passes, unless it has expired or says `flaky`. */
export function applyBaseline(
  findings: readonly ReportFinding[],
  baseline: Baseline,
  now: Date = new Date(),
): BaselineResult {
  const today = dayOf(now.toISOString());
  const expired = baseline.filter(({ until }) => until !== undefined && until < today);
  const valid = baseline.filter((entry) => !expired.includes(entry));
  return {
    valid,
    excused: findings.filter((finding) => isBroken(finding) && valid.some((entry) => matchesFinding(entry, finding))),
    stale: valid.filter((entry) => {
      const rows = findings.filter((finding) => matchesFinding(entry, finding));
      return entry.flaky !== true && rows.some(({ outcome }) => outcome === "pass") && !rows.some(isBroken);
    }),
    expired,
  };
}

/** Returns a baseline with an entry for every failed finding of a report. The user fills in the reasons. */
export const baselineOf = (findings: readonly ReportFinding[]): Baseline =>
  findings
    .filter(({ outcome }) => outcome === "fail")
    .map(({ check, instance }) => ({
      check,
      ...(instance === undefined ? {} : { instance }),
      reason: "Say why this fails, and who mends it.",
    }));

/** Options that decide which findings fail a run. The exit code and formats such as JUnit and Markdown use them. */
export interface FailurePolicy {
  /** Whether a warning fails the run. */
  readonly strict: boolean;
  /**
   * Known failures, which do not fail the run. If the check of an entry now passes, the run fails, unless the entry has
   * expired or says `flaky`.
   */
  readonly baseline: Baseline;
}

export const defaultPolicy: FailurePolicy = { strict: false, baseline: [] };

export type TestStatus =
  | { readonly kind: "failed" }
  | { readonly kind: "known"; readonly reason: string }
  | { readonly kind: "harness failed" }
  | { readonly kind: "skipped" }
  /** The finding does not fail the run: it is `pass`, `observed` or `note`, or `warning` without `strict`. */
  | { readonly kind: "passed" };

export interface TestStatuses {
  readonly of: (finding: ReportFinding) => TestStatus;
  readonly stale: Baseline;
}

export function testStatusesOf(findings: readonly ReportFinding[], { strict, baseline }: FailurePolicy): TestStatuses {
  const { valid, excused, stale } = applyBaseline(findings, baseline);
  const known = new Set(excused);
  const reasonOf = (finding: ReportFinding): string =>
    valid.find((entry) => matchesFinding(entry, finding))?.reason ?? "";
  const statusOf = (finding: ReportFinding): TestStatus => {
    const { outcome } = finding;
    if (outcome === "error") return { kind: "harness failed" };
    if (outcome === "skipped") return { kind: "skipped" };
    if (outcome !== "fail" && !(strict && outcome === "warning")) return { kind: "passed" };
    return known.has(finding) ? { kind: "known", reason: reasonOf(finding) } : { kind: "failed" };
  };
  return { of: statusOf, stale };
}
