import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readHistory, writeNight } from "../../src/app/nightly/history-store.ts";
import { noChanges, simulateNights } from "../../src/report/history/testing/simulate-nights.ts";
import { renderTrendPage } from "../../src/report/history/trend/page.ts";

// Measures the time to read a history of 365 nightly runs, and to render its page for `conformance trend`.

const folder = mkdtempSync(join(tmpdir(), "history-"));
for (const { night } of simulateNights(1, { ...noChanges, nights: 365, checks: 300 })) writeNight(folder, night);
const startMs = performance.now();
const history = readHistory(folder);
const readMs = performance.now();
const page = renderTrendPage(history, { hasReports: () => false });
const endMs = performance.now();
process.stdout.write(
  `read ${Math.round(readMs - startMs)} ms, rendered ${Math.round(endMs - readMs)} ms, in all ${Math.round(endMs - startMs)} ms; the page has ${page.length >> 10} kB\n`,
);
rmSync(folder, { recursive: true });
