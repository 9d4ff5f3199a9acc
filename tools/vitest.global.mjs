// Starts one Chromium for all tests that open a page.
import { chromium } from "playwright-core";

import { findChromium } from "./chromium.mjs";

/** Command-line flags of Chromium. Several prevent requests that Chromium sends by itself, e.g. `--disable-sync`. */
const chromiumFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts Chromium if a selected test file needs a browser, and provides Chromium's address to the tests.
 *
 * @param {import("vitest/node").TestProject} project
 */
export async function setup(project) {
  const executablePath = findChromium();
  const chosen = project.vitest.state.getPaths();
  const isNeeded = executablePath !== null && chosen.some((file) => file.endsWith(".browser.test.ts"));
  const server = isNeeded ? await chromium.launchServer({ executablePath, args: chromiumFlags }) : null;
  project.provide("chromium", server?.wsEndpoint() ?? null);
  return server === null ? undefined : () => server.close();
}
