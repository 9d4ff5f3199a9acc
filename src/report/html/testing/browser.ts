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
export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Messages of the console, and errors of the script. */
  readonly said: readonly string[];
  /** Addresses that it asked for, beside its own. */
  readonly asked: readonly string[];
}

export interface Viewer {
  /** Opens a page from a file; `hash` with its `#`. */
  readonly open: (text: string, options?: ContextOptions, hash?: string) => Promise<Opened>;
}

/** Tests that look at pages in the one Chromium of the run; skipped where there is none (see `tools/chromium.mjs`). */
export function describeInBrowser(title: string, tests: (viewer: Viewer) => void): void {
  const address = inject("chromium");
  // oxlint-disable-next-line vitest/valid-title -- the title is that of the caller
  describe.skipIf(address === null)(title, () => {
    const folder = mkdtempSync(join(tmpdir(), "conformance-page-"));
    let browser: Browser | undefined;
    let pages = 0;
    beforeAll(async () => {
      browser = await chromium.connect(address ?? "");
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(folder, { recursive: true, force: true });
    });
    tests({
      open: async (text, options = {}, hash = "") => {
        if (browser === undefined) throw new Error("A page is opened before the browser is there: open it in a test.");
        pages += 1;
        const file = join(folder, `page-${pages}.html`);
        writeFileSync(file, text);
        return openIn(await browser.newContext(options), pathToFileURL(file).href, hash);
      },
    });
  });
}

async function openIn(context: BrowserContext, address: string, hash: string): Promise<Opened> {
  const [said, asked]: [string[], string[]] = [[], []];
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (url.replace(/#.*/, "") === address) return route.continue();
    asked.push(url);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  await page.goto(`${address}${hash}`);
  return { page, context, said, asked };
}
