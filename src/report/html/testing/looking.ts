import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";

import { sampleOf } from "../../../base/testing/test-scope.ts";
import { desktop, type Viewer } from "./browser.ts";

const phone = { width: 375, height: 800 };

/** The ways in which every page is looked at. */
const looks = [
  ["light", { viewport: desktop, colorScheme: "light" }],
  ["dark, on a phone", { viewport: phone, colorScheme: "dark" }],
  ["dark", { viewport: desktop, colorScheme: "dark" }],
] as const;

type Look = (typeof looks)[number][1];

/** What is wrong with any page of ours, whatever it shows. */
interface Flaws {
  /** What axe calls serious or critical, with all that can be opened open. */
  readonly issues: readonly string[];
  /** Messages of the console, and errors of the script. */
  readonly said: readonly string[];
  /** Addresses that it asked for. */
  readonly asked: readonly string[];
  /** Pixels by which the page is wider than the screen. */
  readonly sidewaysPx: number;
  /** What our markup never makes: elements, attributes, addresses, invisible characters. */
  readonly foreign: readonly string[];
}

const flawless: Flaws = { issues: [], said: [], asked: [], sidewaysPx: 0, foreign: [] };

/** Looks at all of a page. */
async function flawsOf(viewer: Viewer, text: string, look: Look): Promise<Flaws> {
  const { page, said, asked } = await viewer.look(text, look);
  await openAll(page);
  const flaws = {
    issues: await issuesOf(page),
    sidewaysPx: await page.evaluate<number>(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    ),
    foreign: await foreignIn(page),
  };
  return { ...flaws, said, asked };
}

const openAll = (page: Page): Promise<unknown> =>
  page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");

async function issuesOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    // What is right about a page is asked by nobody, and takes as long to put together as what is wrong.
    const options = { resultTypes: ["violations" as const], selectors: false };
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(options);
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""} ${nodes[0]?.failureSummary ?? ""}`);
  });
}

/** See {@link Flaws}; `owned` is what hostile texts set where they are run. */
export const foreignIn = (page: Page): Promise<string[]> => page.evaluate<string[]>(foreign);

const foreign = `(() => {
  const all = [...document.querySelectorAll("body, body *")];
  const never = ["img", "iframe", "b", "i", "object", "embed", "base", "foreignobject", "textarea", "link", "form"];
  const elements = all.map((each) => each.localName).filter((name) => never.includes(name));
  const attributes = all.flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith("on") || name === "style" || name === "src");
  const links = [...document.querySelectorAll("a")].map((each) => each.getAttribute("href")).filter((href) => !/^(#|reports\\/[\\w-]+\\/run\\/report\\.html$)/.test(href));
  const more = [
    ...(document.scripts.length > 1 ? ["a second script"] : []),
    ...("owned" in globalThis ? ["a script of a text's"] : []),
    ...(/[\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029\\ud800-\\udfff\\u0000\\u001b]/u.test(document.body.textContent) ? ["an invisible character"] : []),
    ...(document.querySelector("body > footer, main > footer") === null ? ["no end of the page"] : []),
  ];
  return [...new Set([...elements, ...attributes, ...links, ...more])];
})()`;

/** A page in a browser that runs no scripts. */
interface Plain {
  /** Controls that are shown, and would do nothing. */
  readonly controls: number;
  /** Texts of the page that nobody can come to see, not even by opening something. */
  readonly hidden: readonly string[];
}

const readable: Plain = { controls: 0, hidden: [] };

/** Looks at a page without scripts. */
async function plainOf(viewer: Viewer, text: string): Promise<Plain> {
  const { page } = await viewer.look(text, { javaScriptEnabled: false });
  const controls = await page.locator("button:visible, input:visible, select:visible").count();
  await openAll(page);
  const hidden = await page.evaluate<
    string[]
  >(`[...document.querySelectorAll("h1, h2, h3, p, li, dt, dd, th, td, figcaption")]
    .filter((each) => each.textContent.trim() !== "" && each.closest(".controls") === null && !each.checkVisibility({ visibilityProperty: true }))
    .map((each) => each.textContent.trim().slice(0, 80))`);
  return { controls, hidden };
}

/** Every look at each page finds nothing wrong with it, and without scripts all of it is there. */
export function demandFlawless(viewer: Viewer, pages: readonly (readonly [name: string, text: string])[]): void {
  // Each page begins with another look: every sixth of all, in a quick run, is one look at every second page.
  const views = pages.flatMap(([name, text], page) =>
    looks.map((_, at) => ({ name, text, look: looks[(page + at) % looks.length] ?? looks[0] })),
  );
  it.each(sampleOf(views, { of: 2 * looks.length }))(
    "of $name is without a flaw: $look.0",
    async ({ text, look: [, look] }) => {
      expect(await flawsOf(viewer, text, look)).toEqual(flawless);
    },
  );

  describe.each(sampleOf(pages, { of: 2 }))("of %s", (_, text) => {
    it("is there whole without scripts, and has no control that does nothing", async () => {
      expect(await plainOf(viewer, text)).toEqual(readable);
    });
  });
}
