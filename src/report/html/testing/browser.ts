import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of the one Chromium of the run (`tools/vitest.global.mjs`); `null` where there is none. */
    chromium: string | null;
  }
}

type ContextOptions = NonNullable<Parameters<Browser["newContext"]>[0]>;

/** A page in a browser, and what it did that a page that stands alone does not do. */
export interface Looked {
  readonly page: Page;
  /** Messages of the console, and errors of the script. */
  readonly said: readonly string[];
  /** Addresses that it asked for, beside its own. */
  readonly asked: readonly string[];
}

/** A page in a context of its own, which whoever opened it closes. */
export interface Opened extends Looked {
  readonly context: BrowserContext;
}

/** How a page is looked at. */
export interface Look {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: "light" | "dark";
  readonly javaScriptEnabled: boolean;
}

export interface Viewer {
  /** Opens a page from a file for one who does something to it; `hash` with its `#`. */
  readonly open: (text: string, options?: ContextOptions, hash?: string) => Promise<Opened>;
  /** Shows a page from a file, where the one before it was looked at: a new context takes longer than most pages. */
  readonly look: (text: string, look?: Partial<Look>) => Promise<Looked>;
}

export const desktop = { width: 1280, height: 900 };

/** Tests that look at pages in the one Chromium of the run; skipped where there is none (see `tools/chromium.mjs`). */
export function describeInBrowser(title: string, tests: (viewer: Viewer) => void): void {
  const address = inject("chromium");
  // oxlint-disable-next-line vitest/valid-title -- the title is that of the caller
  describe.skipIf(address === null)(title, () => {
    const folder = mkdtempSync(join(tmpdir(), "conformance-page-"));
    let browser: Browser | undefined;
    const showers = new Map<boolean, Promise<Shower>>();
    let pages = 0;
    beforeAll(async () => {
      browser = await chromium.connect(address ?? "");
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const context = (options: ContextOptions): Promise<BrowserContext> => {
      if (browser === undefined) throw new Error("A page is opened before the browser is there: open it in a test.");
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
        const show = await showerIn(own);
        return { ...(await show(fileOf(text), hash)), context: own };
      },
      look: async (text, { viewport = desktop, colorScheme = "light", javaScriptEnabled = true } = {}) => {
        const kept = showers.get(javaScriptEnabled) ?? context({ javaScriptEnabled }).then(showerIn);
        showers.set(javaScriptEnabled, kept);
        return (await kept)(fileOf(text), "", { viewport, colorScheme });
      },
    });
  });
}

/** Shows what stands at an address in the one page that it has. */
type Shower = (address: string, hash: string, look?: Omit<Look, "javaScriptEnabled">) => Promise<Looked>;

async function showerIn(context: BrowserContext): Promise<Shower> {
  let now: { readonly address: string; readonly said: string[]; readonly asked: string[] } | undefined;
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (url.replace(/#.*/, "") === now?.address) return route.continue();
    now?.asked.push(url);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("console", (message) => now?.said.push(message.text()));
  page.on("pageerror", (error) => now?.said.push(String(error)));
  return async (address, hash, look) => {
    if (look !== undefined) {
      await page.setViewportSize(look.viewport);
      await page.emulateMedia({ colorScheme: look.colorScheme });
    }
    now = { address, said: [], asked: [] };
    await page.goto(`${address}${hash}`);
    return { page, said: now.said, asked: now.asked };
  };
}
