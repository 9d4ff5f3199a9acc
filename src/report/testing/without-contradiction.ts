import type { Report } from "../model/report.ts";
import { hasInvalidLoad, runEndOf, totalsOf, verdictWith } from "../model/verdict.ts";

/** Returns the report with the totals and the verdict that follow from its findings. */
export const withoutContradiction = (report: Report): Report => ({
  ...report,
  totals: totalsOf(report.findings),
  verdict: verdictWith({ ...report, end: runEndOf(report), hasInvalidLoad: hasInvalidLoad(report.load) }),
});
