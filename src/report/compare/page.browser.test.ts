import { expect, it } from "vitest";

import type { ReportDocument } from "../model/report.ts";
import { describeInBrowser, testPagesForFlaws } from "../html/testing/view-pages.ts";
import { brokenDocument, conformantDocument, loadDocument } from "../html/testing/sample-documents.ts";
import { everyHostileText as hostile, withHostileText } from "../testing/hostile.ts";
import { sampleLoadRun, sampleReport } from "../testing/sample.ts";
import { compareReports } from "./compare-reports.ts";
import { renderComparisonPage } from "./page.ts";
import { parseRegressionRules } from "./regression-rules.ts";

const rules = parseRegressionRules("default,reading,observation,new-check,latency:10%");
const compared = (older: ReportDocument, newer: ReportDocument): string =>
  renderComparisonPage(compareReports(older, newer, rules));

/** A report of the same target as in `brokenDocument`, when nothing was broken yet. */
const passing: ReportDocument = {
  ...brokenDocument,
  report: sampleReport(
    brokenDocument.report.findings.map((each) =>
      ["observed", "skipped"].includes(each.outcome) ? each : { ...each, outcome: "pass" },
    ),
  ),
};

const loaded = (p50: number): ReportDocument => {
  const run = sampleLoadRun();
  const { admitted } = run.latencyMs;
  const latencyMs = { ...run.latencyMs, admitted: admitted === null ? null : { ...admitted, p50, p90: p50, p99: p50 } };
  return { ...loadDocument, report: sampleReport([], { load: { runs: [{ ...run, latencyMs }] } }) };
};

const [worse, better] = [compared(passing, brokenDocument), compared(brokenDocument, passing)];
const pages = [
  ["a run that became worse", worse],
  ["a run with other findings", compared(conformantDocument, brokenDocument)],
  ["load that became slower", compared(loaded(5), loaded(9))],
  ["runs full of hostile texts", compared(withHostileText(passing, hostile), withHostileText(brokenDocument, hostile))],
  ["load full of hostile texts", compared(withHostileText(loaded(5), hostile), withHostileText(loaded(9), hostile))],
] as const;

describeInBrowser("the page of a comparison in a browser", (viewer) => {
  testPagesForFlaws(viewer, pages);

  it.each([
    ["worse", worse, /^✕ 6 regressions \(INV-10, /, ["Regressions: 6"]],
    ["better", better, /^✓ no regression$/, []],
  ])("says first whether it became %s", async (_, text, word, headings) => {
    const { page, context } = await viewer.open(text);
    expect(await page.locator(".banner .word").textContent()).toMatch(word);
    expect(await page.getByRole("heading", { name: /^Regressions/ }).allTextContents()).toEqual(headings);
    await context.close();
  });
});
