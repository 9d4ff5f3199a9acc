import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Debugging address of the Chromium that all tests share (`tools/vitest.global.mjs` starts it); `null` if there is none. */
    chromium: string | null;
  }
}

type ContextOptions = NonNullable<Parameters<Browser["newContext"]>[0]>;

/** A page in a browser, with the messages and requests that it caused. A self-contained page causes none. */
export interface ViewedPage {
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
export interface ViewOptions {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: "light" | "dark";
  readonly javaScriptEnabled: boolean;
}

export interface Viewer {
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
