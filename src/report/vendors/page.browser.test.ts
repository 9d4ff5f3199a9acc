import { expect, it } from "vitest";

import { clauseIds, clauseOf } from "../../spec/clauses.ts";
import { describeInBrowser, testPagesForFlaws } from "../html/testing/view-pages.ts";
import { brokenDocument, conformantDocument, loadDocument } from "../html/testing/sample-documents.ts";
import { everyHostileText as hostile } from "../testing/hostile.ts";
import { sampleFinding } from "../testing/sample.ts";
import { renderVendorsPage } from "./page.ts";
import { compareVendors } from "./comparison.ts";
import { sampleObservation, unjudgedVendor, sampleVendor, vendorsWithText } from "./testing/vendors.ts";
import type { Vendor } from "./vendor.ts";

const createdAt = "2030-01-01T00:00:00.000Z";
const pageOf = (vendors: readonly Vendor[]): string => renderVendorsPage(compareVendors(vendors, createdAt));

const failing = sampleFinding({ clause: "INV-3", outcome: "fail", expected: "a 400", actual: "a 200" });
const page = pageOf([
  sampleVendor("Acme", [
    sampleFinding(),
    sampleFinding({ clause: "INV-3" }),
    sampleObservation("LST-9", "nine fields"),
  ]),
  sampleVendor("Borealis", [sampleFinding(), failing, sampleObservation("LST-9", "two fields")]),
  unjudgedVendor("Down", "No answer."),
]);

/** Findings of every clause that can be tested, broken in every way, with long texts. */
const worst = (name: string): Vendor =>
  sampleVendor(
    name,
    clauseIds.map((clause, at) => {
      const long = `${name} ${"says much about what it does ".repeat(20)}`;
      const { level } = clauseOf(clause);
      if (level === "gap") return sampleObservation(clause, long);
      return at % 3 === 0
        ? sampleFinding({ clause, level, outcome: "fail", expected: long, actual: long, suite: `Suite ${at % 20}` })
        : sampleFinding({ clause, level, reading: `${name}-${clause}`, suite: `Suite ${at % 20}` });
    }),
  );

const ran = { kind: "judged", load: null, isKept: false, notes: [] } as const;
const pages = [
  ["three vendors", page],
  [
    "whole runs, one of them loaded",
    pageOf([
      { ...ran, name: "Acme", document: conformantDocument, load: loadDocument },
      { ...ran, name: "Borealis", document: brokenDocument, isKept: true, notes: ["Kept since the day before."] },
    ]),
  ],
  ["vendors full of hostile texts", pageOf(vendorsWithText(hostile))],
] as const;

describeInBrowser("the page of vendors in a browser", (viewer) => {
  testPagesForFlaws(viewer, pages);

  it.each([
    ["two that differ in everything", ["Acme", "Borealis"].map(worst)],
    ["four that differ in everything", ["Acme", "Borealis", "Cumulus", "Drift"].map(worst)],
    ["hostile texts", vendorsWithText(hostile)],
  ])("prints on at most four pages for each vendor: %s", async (_, vendors) => {
    const { page: shown, context } = await viewer.open(pageOf(vendors));
    const pdf = await shown.pdf({ preferCSSPageSize: true });
    await context.close();
    const count = pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(4 * vendors.length);
  });

  it("opens the differences of a switch by the keyboard", async () => {
    const { page: shown, context } = await viewer.open(page);
    const item = shown.getByText("gap, LST-9: “nine fields” becomes “two fields”.");
    const before = await item.isVisible();
    await shown.locator(".switch summary").first().press("Enter");
    expect([before, await item.isVisible()]).toEqual([false, true]);
    await context.close();
  });

  it("hides equal rows, counts the others, and keeps this in its address", async () => {
    const { page: shown, messages, requests, context } = await viewer.open(page);
    const alike = shown.getByRole("row", { name: /^SSE-5/ });
    const button = shown.getByRole("button", { name: "Differences only" });
    const status = shown.locator("#shown");
    const before = [await alike.isVisible(), await status.textContent()];
    await button.press("Enter");
    const after = [await alike.isVisible(), await status.textContent(), await button.getAttribute("aria-pressed")];
    expect([before, after]).toEqual([
      [true, "18 of 18 rows shown"],
      [false, "3 of 18 rows shown", "true"],
    ]);
    await shown.reload();
    expect(await alike.isVisible()).toBe(false);
    await button.press("Enter");
    expect(await alike.isVisible()).toBe(true);
    expect([messages, requests]).toEqual([[], []]);
    await context.close();
  });
});
