import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import axe from "axe-core";
import { sampleOf } from "../../../base/testing/test-scope.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Debugging address of the Chromium that all tests share (`tools/vitest.global.mjs` starts it); `null` if there is none. */
    chromium: string | null;
  }
}

type ContextOptions = NonNullable<Parameters<Browser["newContext"]>[0]>;

/** A page in a browser, with the messages and requests that it caused. A self-contained page causes none. */
interface ViewedPage {
  readonly page: Page;
  /** Messages on the browser's console, and errors of the page's script. */
  readonly messages: readonly string[];
  /** Addresses that the page requested, apart from its own. */
  readonly requests: readonly string[];
}

/** A page in its own browser context. The test has to close it. */
export interface OpenedPage extends ViewedPage {
  readonly context: BrowserContext;
}

/** Browser settings for viewing a page. */
interface ViewOptions {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: "light" | "dark";
  readonly javaScriptEnabled: boolean;
}

interface Viewer {
  /** Opens a page from a file in its own browser context, for tests that act on the page. `hash` begins with `#`. */
  readonly open: (text: string, options?: ContextOptions, hash?: string) => Promise<OpenedPage>;
  /** Shows a page from a file in a shared browser context. This is faster, because a new context takes longer than most pages. */
  readonly view: (text: string, options?: Partial<ViewOptions>) => Promise<ViewedPage>;
}

export const desktop = { width: 1280, height: 900 };

/** Registers tests that view pages in Chromium. They are skipped if there is no Chromium (see `tools/chromium.mjs`). */
export function describeInBrowser(title: string, tests: (viewer: Viewer) => void): void {
  const address = inject("chromium");
  // oxlint-disable-next-line vitest/valid-title -- the title is that of the caller
  describe.skipIf(address === null)(title, () => {
    const folder = mkdtempSync(join(tmpdir(), "conformance-page-"));
    let browser: Browser | undefined;
    const viewers = new Map<boolean, Promise<PageViewer>>();
    let pages = 0;
    beforeAll(async () => {
      browser = await chromium.connect(address ?? "");
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const context = (options: ContextOptions): Promise<BrowserContext> => {
      if (browser === undefined) throw new Error("The browser has not started yet: open pages in a test.");
      return browser.newContext(options);
    };
    const fileOf = (text: string): string => {
      pages += 1;
      const file = join(folder, `page-${pages}.html`);
      writeFileSync(file, text);
      return pathToFileURL(file).href;
    };
    tests({
      open: async (text, options = {}, hash = "") => {
        const own = await context(options);
        const show = await pageViewerIn(own);
        return { ...(await show(fileOf(text), hash)), context: own };
      },
      view: async (text, { viewport = desktop, colorScheme = "light", javaScriptEnabled = true } = {}) => {
        const kept = viewers.get(javaScriptEnabled) ?? context({ javaScriptEnabled }).then(pageViewerIn);
        viewers.set(javaScriptEnabled, kept);
        return (await kept)(fileOf(text), "", { viewport, colorScheme });
      },
    });
  });
}

/** Shows an address in the single page of a browser context. */
type PageViewer = (
  address: string,
  hash: string,
  options?: Omit<ViewOptions, "javaScriptEnabled">,
) => Promise<ViewedPage>;

async function pageViewerIn(context: BrowserContext): Promise<PageViewer> {
  let now: { readonly address: string; readonly messages: string[]; readonly requests: string[] } | undefined;
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (url.replace(/#.*/, "") === now?.address) return route.continue();
    now?.requests.push(url);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("console", (message) => now?.messages.push(message.text()));
  page.on("pageerror", (error) => now?.messages.push(String(error)));
  return async (address, hash, options) => {
    if (options !== undefined) {
      await page.setViewportSize(options.viewport);
      await page.emulateMedia({ colorScheme: options.colorScheme });
    }
    now = { address, messages: [], requests: [] };
    await page.goto(`${address}${hash}`);
    return { page, messages: now.messages, requests: now.requests };
  };
}

const phone = { width: 375, height: 800 };

/** Browser settings in which every page is viewed. */
const views = [
  ["light", { viewport: desktop, colorScheme: "light" }],
  ["dark, on a phone", { viewport: phone, colorScheme: "dark" }],
  ["dark", { viewport: desktop, colorScheme: "dark" }],
] as const;

type BrowserSettings = (typeof views)[number][1];

/** Flaws that no page may have. */
interface PageFlaws {
  /** Serious or critical issues that the accessibility checker axe finds when all details are open. */
  readonly issues: readonly string[];
  /** Messages on the browser's console, and errors of the page's script. */
  readonly messages: readonly string[];
  /** Addresses that the page requested. */
  readonly requests: readonly string[];
  /** Number of pixels by which the page is wider than the screen. */
  readonly sidewaysPx: number;
  /** Elements, attributes, addresses and invisible characters that the harness itself never writes. */
  readonly foreignElementsScript: readonly string[];
}

const flawless: PageFlaws = { issues: [], messages: [], requests: [], sidewaysPx: 0, foreignElementsScript: [] };

/** Finds the flaws of a page in one view. */
async function flawsOf(viewer: Viewer, text: string, view: BrowserSettings): Promise<PageFlaws> {
  const { page, messages, requests } = await viewer.view(text, view);
  await openAll(page);
  const flaws = {
    issues: await issuesOf(page),
    sidewaysPx: await page.evaluate<number>(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    ),
    foreignElementsScript: await foreignElementsIn(page),
  };
  return { ...flaws, messages, requests };
}

const openAll = (page: Page): Promise<unknown> =>
  page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");

async function issuesOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    // axe reports violations only. Listing the passed rules would take as long again.
    const options = { resultTypes: ["violations" as const], selectors: false };
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(options);
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""} ${nodes[0]?.failureSummary ?? ""}`);
  });
}

/** Finds foreign elements in a page, as {@link PageFlaws} defines them. A hostile text that is executed sets the variable `owned`. */
export const foreignElementsIn = (page: Page): Promise<string[]> => page.evaluate<string[]>(foreignElementsScript);

const foreignElementsScript = `(() => {
  const all = [...document.querySelectorAll("body, body *")];
  const never = ["img", "iframe", "b", "i", "object", "embed", "base", "foreignobject", "textarea", "link", "form"];
  const elements = all.map((each) => each.localName).filter((name) => never.includes(name));
  const attributes = all.flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith("on") || name === "style" || name === "src");
  const links = [...document.querySelectorAll("a")].map((each) => each.getAttribute("href")).filter((href) => !/^(#|reports\\/[\\w-]+\\/run\\/report\\.html$|[a-z\\d-]+\\/[\\w.-]+\\.(json|html)$|[a-z\\d-]+\\/[\\w.-]+\\/report\\.html$|feed\\.xml$)/.test(href));
  const more = [
    ...(document.scripts.length > 1 ? ["a second script"] : []),
    ...("owned" in globalThis ? ["a script of a text's"] : []),
    ...(/[\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029\\ud800-\\udfff\\u0000\\u001b]/u.test(document.body.textContent) ? ["an invisible character"] : []),
    ...(document.querySelector("body > footer, main > footer") === null ? ["no end of the page"] : []),
  ];
  return [...new Set([...elements, ...attributes, ...links, ...more])];
})()`;

/** Flaws of a page in a browser without scripts. */
interface ScriptlessFlaws {
  /** Number of visible controls, which would do nothing without scripts. */
  readonly controls: number;
  /** Texts that stay hidden even when all details are open. */
  readonly hidden: readonly string[];
}

const noScriptlessFlaws: ScriptlessFlaws = { controls: 0, hidden: [] };

/** Finds the flaws of a page in a browser without scripts. */
async function scriptlessFlawsOf(viewer: Viewer, text: string): Promise<ScriptlessFlaws> {
  const { page } = await viewer.view(text, { javaScriptEnabled: false });
  const controls = await page.locator("button:visible, input:visible, select:visible").count();
  await openAll(page);
  const hidden = await page.evaluate<
    string[]
  >(`[...document.querySelectorAll("h1, h2, h3, p, li, dt, dd, th, td, figcaption")]
    .filter((each) => each.textContent.trim() !== "" && each.closest(".controls") === null && !each.checkVisibility({ visibilityProperty: true }))
    .map((each) => each.textContent.trim().slice(0, 80))`);
  return { controls, hidden };
}

/** Registers tests for each page: it has no flaws in any view, and is complete without scripts. */
export function testPagesForFlaws(viewer: Viewer, pages: readonly (readonly [name: string, text: string])[]): void {
  // Pages begin with different views. A quick run takes one view of every second page.
  const cases = pages.flatMap(([name, text], page) =>
    views.map((_, at) => ({ name, text, view: views[(page + at) % views.length] ?? views[0] })),
  );
  it.each(sampleOf(cases, { of: 2 * views.length }))(
    "of $name has no flaw: $view.0",
    async ({ text, view: [, view] }) => {
      expect(await flawsOf(viewer, text, view)).toEqual(flawless);
    },
  );

  describe.each(sampleOf(pages, { of: 2 }))("of %s", (_, text) => {
    it("is complete without scripts, and shows no control that does nothing", async () => {
      expect(await scriptlessFlawsOf(viewer, text)).toEqual(noScriptlessFlaws);
    });
  });
}
