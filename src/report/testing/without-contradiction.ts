import { profileResultsOf } from "../model/profiles.ts";
import type { Report } from "../model/report.ts";
import { hasInvalidLoad, runEndOf, totalsOf, reportVerdict } from "../model/verdict.ts";

/** Corrects a report: its totals, its verdict and those of its profiles then follow from its findings. */
export function withoutContradiction(report: Report): Report {
  const verdict = reportVerdict({ ...report, end: runEndOf(report), hasInvalidLoad: hasInvalidLoad(report.load) });
  const corrected = { ...report, totals: totalsOf(report.findings), verdict };
  return report.profiles === undefined ? corrected : { ...corrected, profiles: profileResultsOf(corrected) };
}
