import { expect, it } from "vitest";

import { describeInBrowser, testPagesForFlaws } from "../html/testing/view-pages.ts";
import { brokenDocument, conformantDocument, loadDocument } from "../html/testing/sample-documents.ts";
import type { ReportDocument } from "../model/report.ts";
import { statementOf } from "../statement/statement.ts";
import { everyHostileText as hostile } from "../testing/hostile.ts";
import { sampleFinding, sampleReport } from "../testing/sample.ts";
import type { RegistryEntry } from "./entry.ts";
import { renderRegistryPage } from "./page.ts";

const now = new Date("2030-02-01T00:00:00.000Z");

const entryOf = (folder: string, document: Pick<ReportDocument, "report">, more: Partial<RegistryEntry> = {}) => ({
  folder,
  version: "1.0.0",
  vendor: folder,
  statement: statementOf(document, {}),
  signature: null,
  isSignedByVendor: false,
  expires: "2030-04-01T00:00:00.000Z",
  supersededBy: null,
  newer: null,
  hasReport: false,
  sha256: "a".repeat(64),
  ...more,
});
const pageOf = (entries: readonly RegistryEntry[]): string => renderRegistryPage({ entries, now, url: null });

const hostileReport = sampleReport(
  [sampleFinding({ outcome: "fail", check: hostile, clause: hostile, expected: hostile, actual: hostile })],
  { target: { name: hostile, baseUrl: hostile, fingerprint: hostile, tiers: { key: hostile } } },
);
const page = pageOf([
  entryOf("acme", conformantDocument, { version: "1.2.0", hasReport: true }),
  entryOf("acme", conformantDocument, { version: "1.10.0", expires: "2030-01-31T00:00:00.000Z" }),
  entryOf("borealis", brokenDocument, { version: "2.0.0" }),
  entryOf("borealis", conformantDocument, { version: "1.9.0", supersededBy: "2.0.0", newer: "2.0.0" }),
  entryOf("cumulus", loadDocument),
]);
const pages = [
  ["five statements", page],
  ["no statement", pageOf([])],
  ["hostile texts", pageOf([entryOf("acme", { report: hostileReport }, { vendor: hostile })])],
] as const;

it("an expired and a superseded statement say so, and are no longer conformant", () => {
  expect(page.match(/class="not-current"/g)).toHaveLength(2);
  for (const text of ["expired on 2030-01-31", "superseded by 2.0.0, which is nonconformant", "was conformant"])
    expect(page).toContain(text);
});

describeInBrowser("the index of a registry in a browser", (viewer) => {
  testPagesForFlaws(viewer, pages);

  it("is searched, sorted and narrowed with the keyboard alone", async () => {
    const { page: shown, messages, requests, context } = await viewer.open(page);
    const versions = async () =>
      (await shown.locator("tbody tr:not([hidden]) th > a").allTextContents()).map((each) =>
        each.replace(" 1.0.0", ""),
      );
    const tabTo = async (name: RegExp) => {
      for (let at = 0; at < 30; at += 1) {
        await shown.keyboard.press("Tab");
        const focused = await shown.evaluate<string>(
          "document.activeElement.id + ' ' + document.activeElement.textContent",
        );
        if (name.test(focused)) return;
      }
      throw new Error(`Tab never reaches ${String(name)}.`);
    };
    await tabTo(/^search/);
    await shown.keyboard.type("ACME conformant");
    expect(await versions()).toEqual(["acme 1.2.0", "acme 1.10.0"]);
    await tabTo(/^current-only/);
    await shown.keyboard.press("Enter");
    expect(await versions()).toEqual(["acme 1.2.0"]);
    expect(await shown.locator("#shown").textContent()).toBe("1 of 5 shown");

    await shown.keyboard.press("Enter");
    await shown.locator("#search").fill("");
    await tabTo(/Vendor and version$/);
    await shown.keyboard.press("Enter");
    await shown.keyboard.press("Enter");
    const head = shown.getByRole("columnheader", { name: "Vendor and version" });
    expect(await head.getAttribute("aria-sort")).toBe("descending");
    expect(await versions()).toEqual(["cumulus", "borealis 2.0.0", "borealis 1.9.0", "acme 1.10.0", "acme 1.2.0"]);
    expect([messages, requests]).toEqual([[], []]);
    await context.close();
  });

  it("prints every column, and no control", async () => {
    const { page: shown, context } = await viewer.open(page, { viewport: { width: 1000, height: 700 } });
    await shown.emulateMedia({ media: "print" });
    expect(await shown.getByRole("searchbox").isVisible()).toBe(false);
    expect(await shown.getByRole("columnheader", { name: "Verdict" }).isVisible()).toBe(true);
    const sidewaysPx = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await shown.evaluate(sidewaysPx)).toBe(0);
    await context.close();
  });
});
