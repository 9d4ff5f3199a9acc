import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** As `tools/chromium.mjs` looks for it, which says how to get it where it is not there; then the tests that need it are skipped. */
export const chromiumBinary: string | null = findChromium();

function findChromium(): string | null {
  const { CHROMIUM_BINARY: named = "", PATH: path = "" } = process.env;
  if (named !== "") return existsSync(named) ? named : null;
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((each) => existsSync(each)) ?? null;
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
  readonly close: () => Promise<void>;
}

/** Switches off what Chromium would ask of the network by itself. */
const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function startViewer(): Promise<Viewer> {
  if (chromiumBinary === null) throw new Error("There is no Chromium: see tools/chromium.mjs.");
  const browser = await chromium.launch({ executablePath: chromiumBinary, args: quiet });
  const folder = mkdtempSync(join(tmpdir(), "conformance-page-"));
  let pages = 0;
  return {
    open: async (text, options = {}, hash = "") => {
      pages += 1;
      const file = join(folder, `page-${pages}.html`);
      writeFileSync(file, text);
      return openIn(await browser.newContext(options), pathToFileURL(file).href, hash);
    },
    close: async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
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
