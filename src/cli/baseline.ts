import { readFileSync } from "node:fs";

import { z } from "zod";

import type { ReportFinding } from "../report/report.ts";
import { UsageProblem } from "../target/problem.ts";

const baselineSchema = z.strictObject({
  $schema: z.string().optional(),
  known: z.array(
    z.strictObject({
      check: z.string().min(1),
      instance: z.string().min(1).optional(),
      reason: z.string().min(1),
    }),
  ),
});

/** Failures that are known, each with a reason. */
export type Baseline = z.infer<typeof baselineSchema>["known"];

/**
 * Reads a baseline file: `{"known": [{"check": "SSE-5", "reason": "fixed in 2.3"}]}`.
 *
 * @throws {UsageProblem}
 */
export function readBaseline(path: string): Baseline {
  let raw: unknown;
  try {
    raw = JSON.parse(readFileSync(path, "utf8")) as unknown;
  } catch (error) {
    throw new UsageProblem(
      `The baseline cannot be read: ${path} (${error instanceof Error ? error.message.replaceAll("\n", " ") : String(error)}).`,
    );
  }
  const parsed = baselineSchema.safeParse(raw);
  if (parsed.success) return parsed.data.known;
  const [issue] = parsed.error.issues;
  throw new UsageProblem(
    `${path}: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}. A baseline is {"known": [{"check": "SSE-5", "reason": "…"}]}.`,
  );
}

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
