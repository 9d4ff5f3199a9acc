import { assert, asyncProperty } from "fast-check";
import { expect, it } from "vitest";

import { runsOf } from "../../base/testing/test-scope.ts";
import { everyHostileText, hostileText, withHostileText } from "../testing/hostile.ts";
import { renderHtml } from "./render-html.ts";
import { describeInBrowser, foreignElementsIn } from "./testing/view-pages.ts";
import { brokenDocument, loadDocument } from "./testing/sample-documents.ts";

describeInBrowser("texts of a target in a page", (viewer) => {
  it.each([
    ["a run", brokenDocument],
    ["load", loadDocument],
  ])(
    "never become elements, attributes or invisible signs, in whatever field of %s they stand",
    async (_, document) => {
      await assert(
        asyncProperty(hostileText, async (evil) => {
          const { page, messages, requests } = await viewer.view(renderHtml(withHostileText(document, evil)));
          await page.locator(".finding summary").first().click();
          expect(await foreignElementsIn(page)).toEqual([]);
          expect([messages, requests]).toEqual([[], []]);
        }),
        { numRuns: runsOf({ quick: 2, full: 40 }), examples: [[everyHostileText]] },
      );
    },
  );

  it("never make a phone scroll sideways", async () => {
    const words = `{"${"x".repeat(400)}":1}`;
    const { page } = await viewer.view(renderHtml(withHostileText(brokenDocument, words)), {
      viewport: { width: 375, height: 800 },
    });
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
  });

  it("are cut if each is a mebibyte long", async () => {
    const text = renderHtml(withHostileText(brokenDocument, "<script>owned = true</script>".repeat(40_000)));
    expect(text.length).toBeLessThan(2_000_000);
    const { page } = await viewer.view(text);
    expect(await foreignElementsIn(page)).toEqual([]);
  });
});
