import { applyBaseline, type Baseline } from "../../report/model/failure-policy.ts";
import type { ReportFinding } from "../../report/model/report.ts";

/** What a baseline has to do with the findings, for the terminal; empty where it has nothing to. */
export function baselineText(findings: readonly ReportFinding[], baseline: Baseline): string {
  const { excused, stale } = applyBaseline(findings, baseline);
  const lines = [
    ...(excused.length === 0
      ? []
      : [`${excused.length} known ${excused.length === 1 ? "failure is" : "failures are"} excused by the baseline.`]),
    ...stale.map(({ check, reason }) => `Stale baseline: ${check} no longer fails (${reason}). Take it out.`),
  ];
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
