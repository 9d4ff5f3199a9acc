import type { Report } from "../model/report.ts";
import { hasInvalidLoad, runEndOf, totalsOf, verdictWith } from "../model/verdict.ts";

/** A report whose totals and verdict follow from its findings. */
export const withoutContradiction = (report: Report): Report => ({
  ...report,
  totals: totalsOf(report.findings),
  verdict: verdictWith({ ...report, end: runEndOf(report), hasInvalidLoad: hasInvalidLoad(report.load) }),
});
