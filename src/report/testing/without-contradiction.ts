import type { Report } from "../model/report.ts";
import { hasInvalidLoad, runEndOf, totalsOf, verdictWith } from "../model/verdict.ts";

/** Corrects a report: its totals and its verdict then follow from its findings. */
export const withoutContradiction = (report: Report): Report => ({
  ...report,
  totals: totalsOf(report.findings),
  verdict: verdictWith({ ...report, end: runEndOf(report), hasInvalidLoad: hasInvalidLoad(report.load) }),
});
