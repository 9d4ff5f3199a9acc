import { describe, expect, it } from "vitest";

import { need } from "../../run/skip-reason.ts";
import { runSuites, type RunOptions } from "../../run/run.ts";
import { selectChecks } from "../../run/plan/selection.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { suites } from "../../suites/all.ts";
import { cornersRequested, type PairCoverage } from "../../suites/coverage/probe.ts";

async function pairsOf(options: Partial<RunOptions>): Promise<PairCoverage> {
  const server = await startEmbedded();
  try {
    const { signal } = new AbortController();
    const { runs } = await runSuites({ target: server.target, suites, maxRequests: 20_000, signal, ...options });
    const result = runs.find(({ planned }) => planned.probe === cornersRequested)?.result;
    if (result?.kind !== "ran") throw new Error(JSON.stringify(result));
    return result.evidence as PairCoverage;
  } finally {
    await server.close();
  }
}

describe.concurrent("pairs that a run leaves out", () => {
  it.each([
    ["a selection", { suites: selectChecks(suites, { only: ["AUTH-3"], skip: [] }) }, need("selection")],
    ["a bound", { maxRequests: 300 }, need("maxRequests")],
    ["a run that only reads", { readOnly: true }, need("readOnly")],
  ])("are cut, and not unseen, with %s", async (_, options, needs) => {
    const { uncovered, cut, coveredCount, total, triples } = await pairsOf(options);
    expect(uncovered).toEqual([]);
    expect(cut.map((each) => each.needs)).toContainEqual(needs);
    expect(coveredCount).toBeGreaterThan(300);
    expect(coveredCount).toBeLessThan(total);
    expect(triples?.cut.map((each) => each.needs)).toContainEqual(needs);
  });
});
