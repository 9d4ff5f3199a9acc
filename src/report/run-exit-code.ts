import { applyBaseline, type Baseline } from "./baseline.ts";
import type { Report } from "./report.ts";
import { exitCodeOf, type ExitOptions } from "./verdict.ts";

/** How a run is to be taken: what counts as broken, and what is known to be. */
export interface RunExitOptions extends Partial<ExitOptions> {
  readonly baseline?: Baseline;
}

/**
 * The exit code of a run with its baseline: 1 a `must` is broken and not excused, or an entry of the baseline is stale, or what `strict`
 * and `complete` add; 4 the harness itself failed; 3 nothing was exercised, or the run was stopped early; else 0.
 */
export function runExitCode(
  report: Report,
  { strict = false, complete = false, baseline = [] }: RunExitOptions = {},
): 0 | 1 | 3 | 4 {
  const { excused, stale } = applyBaseline(report.findings, baseline);
  if (stale.length > 0) return 1;
  const findings = report.findings.filter((finding) => !excused.includes(finding));
  const code = exitCodeOf({ findings, unselected: report.unselected }, { strict, complete });
  if (code === 0 && report.verdict === "incomplete") return 3;
  // All that was exercised is excused: that is a known state, not an empty run.
  return code === 3 && excused.length > 0 ? 0 : code;
}
