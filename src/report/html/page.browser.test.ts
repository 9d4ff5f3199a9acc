import { describe, expect, it } from "vitest";

import type { ReportDocument } from "../model/report.ts";
import { renderHtml } from "./render-html.ts";
import { describeInBrowser, desktop, type OpenedPage, testPagesForFlaws } from "./testing/view-pages.ts";
import { brokenDocument, conformantDocument, loadDocument } from "./testing/sample-documents.ts";

const documents: readonly (readonly [string, ReportDocument])[] = [
  ["a broken run", brokenDocument],
  ["a conformant run", conformantDocument],
  ["a load run", loadDocument],
];

describeInBrowser("a report's page in a browser", (viewer) => {
  const broken = (hash = ""): Promise<OpenedPage> =>
    viewer.open(renderHtml(brokenDocument), { viewport: desktop }, hash);
  const visible = (opened: OpenedPage): Promise<string[]> =>
    opened.page.locator(".finding:visible .clause").allTextContents();

  testPagesForFlaws(
    viewer,
    documents.map(([name, document]) => [name, renderHtml(document)]),
  );

  describe.each(documents)("of %s", (_, document) => {
    it("has every finding without scripts, and opens its sections by the keyboard", async () => {
      const { page } = await viewer.view(renderHtml(document), { javaScriptEnabled: false });
      expect(await page.locator(".finding").count()).toBe(document.report.findings.length);
      const first = page.locator(".suite summary").first();
      const suite = page.locator(".suite").first();
      const wasOpen = (await suite.getAttribute("open")) !== null;
      await first.focus();
      await page.keyboard.press("Enter");
      expect((await suite.getAttribute("open")) !== null).toBe(!wasOpen);
    });
  });

  it("filters by outcome, level and section, counts the matches, and resets", async () => {
    const opened = await broken();
    const { page } = opened;
    await page.getByRole("button", { name: /^fail/ }).click();
    expect(await visible(opened)).toEqual(["INV-10", "LIM-1", "LIM-1", "HOOK-21"]);
    expect(await page.locator("#matches").textContent()).toBe("4 of 11 findings");
    await page.getByLabel("Section").selectOption("Limits");
    expect(await visible(opened)).toEqual(["LIM-1", "LIM-1"]);
    await page.getByRole("button", { name: "Show all" }).click();
    expect(await page.locator("#matches").textContent()).toBe("11 findings");
    await page.getByLabel("Level").selectOption("gap");
    expect(await visible(opened)).toEqual(["AUTH-9"]);
    await opened.context.close();
  });

  it("searches all texts of findings and their exchanges by keyboard", async () => {
    const opened = await broken();
    await opened.page.getByLabel("Search").focus();
    await opened.page.keyboard.type("no_key");
    expect(await visible(opened)).toEqual(["AUTH-9"]);
    await opened.page.getByLabel("Search").fill('"message":"no"');
    expect(await visible(opened)).toEqual(["INV-10", "AUTH-9"]);
    await opened.page.getByLabel("Search").fill("nothing that stands here");
    expect(await opened.page.locator("#matches").textContent()).toBe("0 of 11 findings");
    await opened.context.close();
  });

  it("copies a command and a link, and says so", async () => {
    const opened = await broken("#finding-INV-10");
    const { page, context } = opened;
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const clipboard = (): Promise<string> => page.evaluate("navigator.clipboard.readText()");
    const finding = page.locator("#finding-INV-10");
    await finding.getByRole("button", { name: "Copy the command" }).press("Enter");
    await expect.poll(() => page.locator("#announcement").textContent()).toBe("The command is copied.");
    expect(await clipboard()).toContain(
      'curl -i http://127.0.0.1:8080/v1/agents/echo/invoke \\\n  -H "Authorization: Bearer $CONFORMANCE_API_KEY"',
    );
    await finding.getByRole("button", { name: "Copy the link" }).click();
    await expect.poll(() => page.locator("#announcement").textContent()).toBe("The link is copied.");
    expect(await clipboard()).toMatch(/page-\d+\.html#finding-INV-10$/);
    await context.close();
  });

  it("opens the target of a link, even if a filter hides it", async () => {
    const opened = await broken("#finding-LIM-1:pro");
    const { page } = opened;
    const linked = page.locator("details.linked");
    expect(await linked.getAttribute("id")).toBe("finding-LIM-1:pro");
    expect(await linked.locator(".body").isVisible()).toBe(true);
    await page.getByRole("button", { name: /^note/ }).click();
    expect(await visible(opened)).toEqual(["INV-7"]);
    await page.evaluate("location.hash = '#finding-INV-1'");
    await expect.poll(() => page.locator("#finding-INV-1 .body").isVisible()).toBe(true);
    await page.evaluate("location.hash = '#clause-VER-1'");
    await expect.poll(() => page.locator("[id='clause-VER-1']").isVisible()).toBe(true);
    await opened.context.close();
  });

  it("prints evidence of failures, and no controls", async () => {
    const { page, context } = await broken();
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("button:visible, input:visible, select:visible").count()).toBe(0);
    const heights = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.finding.fail .wire, .finding.fail .curl')].map((each) => each.getBoundingClientRect().height)",
    );
    expect(heights.length).toBeGreaterThan(2);
    expect(Math.min(...heights)).toBeGreaterThan(20);
    expect(await page.locator(".finding.pass").first().isVisible()).toBe(false);
    await context.close();
  });
});
