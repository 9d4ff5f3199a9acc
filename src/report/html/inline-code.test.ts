import { describe, expect, it } from "vitest";

import { compareReports } from "../compare/compare-reports.ts";
import { renderComparisonPage } from "../compare/page.ts";
import { defaultRegressionRules } from "../compare/regression-rules.ts";
import { noChanges, replayNights, simulateNights } from "../history/testing/simulate-nights.ts";
import { renderTrendPage } from "../history/trend/page.ts";
import { renderVendorsPage } from "../vendors/page.ts";
import { compareVendors } from "../vendors/comparison.ts";
import { sampleVendor, unjudgedVendor } from "../vendors/testing/vendors.ts";
import type { ReportDocument } from "../model/report.ts";
import { sampleReport } from "../testing/sample.ts";
import { renderHtml } from "./render-html.ts";
import { brokenDocument, loadDocument } from "./testing/sample-documents.ts";
import { withSentences } from "../testing/hostile.ts";

const hostile = ' `<b>&" x` end';
const shown = "<code>&lt;b&gt;&amp;&quot; x</code> end";

const withHostileText = (document: ReportDocument): ReportDocument => ({
  ...document,
  report: withSentences(document.report, hostile),
});
const broken = withHostileText(brokenDocument);
const passing = {
  ...brokenDocument,
  report: sampleReport(brokenDocument.report.findings.map((each) => ({ ...each, outcome: "pass" as const }))),
};
const { nights } = replayNights(simulateNights(1, { ...noChanges, failing: { from: 20, check: "INV-7" } }));
const saying = withSentences({ nights, damaged: [{ file: "a.json", problem: "damaged" }] }, hostile);

const pages = [
  ["a report", renderHtml(broken)],
  ["a report of load", renderHtml(withHostileText(loadDocument))],
  ["a comparison", renderComparisonPage(compareReports(passing, broken, defaultRegressionRules))],
  [
    "vendors",
    renderVendorsPage(
      compareVendors([sampleVendor("Acme", broken.report.findings), unjudgedVendor("Other", hostile)], "now"),
    ),
  ],
  ["the trend of nights", renderTrendPage(saying, { hasReports: () => false })],
] as const;

/** Returns the running text of a page, without attributes, scripts, styles, and recorded messages. */
const runningText = (page: string): string =>
  page.replace(/<(pre|script|style|title|svg)\b.*?<\/\1>/gs, "").replace(/<[^>]*>/g, "");

describe("code within a sentence", () => {
  it.each(pages)("is shown as code by %s, and as no other markup", (_, page) => {
    expect(page).toContain(shown);
    expect(page).not.toContain("<b>");
    expect(runningText(page).match(/.{0,60}`.{0,60}/g)).toBeNull();
  });
});
