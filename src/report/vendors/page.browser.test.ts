import axe from "axe-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { chromiumBinary, startViewer, type Viewer } from "../html/testing/browser.ts";
import { sampleFinding } from "../testing/sample.ts";
import { sideBySidePage } from "./page.ts";
import { sideBySide } from "./side-by-side.ts";
import { anObservation, anUnjudged, aVendor, vendorsSaying } from "./testing/vendors.ts";

const made = "2030-01-01T00:00:00.000Z";
const failing = sampleFinding({ clause: "INV-3", outcome: "fail", expected: "a 400", actual: "a 200" });
const page = sideBySidePage(
  sideBySide(
    [
      aVendor("Acme", [sampleFinding(), sampleFinding({ clause: "INV-3" }), anObservation("LST-9", "nine fields")]),
      aVendor("Borealis", [sampleFinding(), failing, anObservation("LST-9", "two fields")]),
      anUnjudged("Down", "No answer."),
    ],
    made,
  ),
);

describe.skipIf(chromiumBinary === null)("the page of vendors in a browser", () => {
  let viewer: Viewer;
  beforeAll(async () => {
    viewer = await startViewer();
  });
  afterAll(() => viewer.close());

  it("hides what all have alike, says how much is shown, and can be sent to a colleague like that", async () => {
    const { page: shown, said, asked, context } = await viewer.open(page);
    const alike = shown.getByRole("row", { name: /^SSE-5/ });
    const button = shown.getByRole("button", { name: "Differences only" });
    const told = shown.locator("#shown");
    const before = [await alike.isVisible(), await told.textContent()];
    await button.press("Enter");
    const after = [await alike.isVisible(), await told.textContent(), await button.getAttribute("aria-pressed")];
    expect([before, after]).toEqual([
      [true, "11 of 11 rows shown"],
      [false, "2 of 11 rows shown", "true"],
    ]);
    await shown.reload();
    expect(await alike.isVisible()).toBe(false);
    await button.press("Enter");
    expect(await alike.isVisible()).toBe(true);
    expect([said, asked]).toEqual([[], []]);
    await context.close();
  });

  it("shows everything without scripts, and no control that does nothing", async () => {
    const { page: shown, context } = await viewer.open(page, { javaScriptEnabled: false });
    expect(await shown.getByRole("row", { name: /^SSE-5/ }).isVisible()).toBe(true);
    expect(await shown.getByText("expected a 400; got a 200").isVisible()).toBe(true);
    expect(await shown.getByRole("button", { name: "Differences only" }).isVisible()).toBe(false);
    await context.close();
  });

  it.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 375],
  ] as const)(
    "has nothing that axe calls serious: %s, %i wide; and never scrolls sideways",
    async (colorScheme, width) => {
      const { page: shown, context } = await viewer.open(page, { colorScheme, viewport: { width, height: 800 } });
      await shown.evaluate(axe.source);
      const serious = await shown.evaluate(async () => {
        const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run();
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => [id, nodes[0]?.html]);
      });
      expect(serious).toEqual([]);
      expect(await shown.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")).toBe(
        true,
      );
      await context.close();
    },
  );

  it("lets nothing of a target become an element or a request", async () => {
    const text = `"><script>document.title="taken"</script><img src="https://evil.example/x.png" onerror="document.title='taken'">`;
    const {
      page: shown,
      said,
      asked,
      context,
    } = await viewer.open(sideBySidePage(sideBySide(vendorsSaying(text), made)));
    expect(await shown.locator("img").count()).toBe(0);
    expect(await shown.locator("script").count()).toBe(1);
    expect(await shown.title()).not.toBe("taken");
    expect([said, asked]).toEqual([[], []]);
    await context.close();
  });
});
