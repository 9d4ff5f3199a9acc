import { expect, it } from "vitest";

import { describeInBrowser, testPagesForFlaws } from "../html/testing/view-pages.ts";
import { brokenDocument, conformantDocument, loadDocument } from "../html/testing/sample-documents.ts";
import { everyHostileText as hostile } from "../testing/hostile.ts";
import { sampleFinding, sampleReport } from "../testing/sample.ts";
import { renderStatementPage } from "./page.ts";
import { statementOf } from "./statement.ts";

const signature = {
  keyId: "efb64b6442ed356340830bc83a6b8ff9c141e1218959b97cd0e6696e9d8e8231",
  subjects: [{ name: "registry.acme.example/agents", digest: { sha256: "a".repeat(64) } }],
  expires: "2030-04-01T00:00:00.000Z",
};
const hostileReport = sampleReport(
  [sampleFinding({ outcome: "fail", check: hostile, clause: hostile, expected: hostile, actual: hostile })],
  { target: { name: hostile, baseUrl: hostile, fingerprint: hostile, tiers: { key: hostile } } },
);
const signed = renderStatementPage(statementOf(brokenDocument, {}), signature);
const pages = [
  ["signed", signed],
  ["unsigned", renderStatementPage(statementOf(conformantDocument, {}), null)],
  ["of load", renderStatementPage(statementOf(loadDocument, {}), signature)],
  ["full of hostile texts", renderStatementPage(statementOf({ report: hostileReport }, {}), signature)],
] as const;

it("the page of a statement has no script, and says who signed it and until when it counts", () => {
  expect(signed).not.toContain("<script");
  for (const text of [signature.keyId, "2030-04-01", "registry.acme.example/agents", "--keys"])
    expect(signed).toContain(text);
  expect(pages[1][1]).toContain("nobody signed this statement");
});

describeInBrowser("the page of a statement in a browser", (viewer) => {
  testPagesForFlaws(viewer, pages);
});
