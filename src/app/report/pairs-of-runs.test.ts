import { describe, expect, it } from "vitest";

import { need } from "../../run/skip-reason.ts";
import { runSuites, type RunOptions } from "../../run/run.ts";
import { machineTimers } from "../../run/time/run-clock.ts";
import type { Target } from "../../target/target.ts";
import { selectChecks } from "../../run/plan/selection.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { suites } from "../../suites/all.ts";
import { pairRequestsSent, type PairCoverage } from "../../suites/coverage/probe.ts";

async function pairsOf(
  options: Partial<RunOptions>,
  change: (target: Target) => Partial<RunOptions> = () => ({}),
): Promise<PairCoverage> {
  const server = await startEmbedded();
  try {
    const { signal } = new AbortController();
    const { runs } = await runSuites({
      target: server.target,
      suites,
      maxRequests: 20_000,
      signal,
      ...options,
      ...change(server.target),
    });
    const result = runs.find(({ planned }) => planned.probe === pairRequestsSent)?.result;
    if (result?.kind !== "ran") throw new Error(JSON.stringify(result));
    return result.evidence as PairCoverage;
  } finally {
    await server.close();
  }
}

/** Makes a run believe that each advance of the target's clock takes five seconds of real time. */
function withSlowClock({ clock, ...target }: Target): Pick<RunOptions, "target" | "timers"> {
  let takenMs = 0;
  const advance = async (ms: number): Promise<void> => {
    takenMs += 5000;
    await clock?.advance(ms);
  };
  return {
    target: { ...target, clock: clock === null ? null : { ...clock, advance } },
    timers: { ...machineTimers, now: () => machineTimers.now() + takenMs },
  };
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

  it("are cut with what was left when the time was over, if the target is slow", async () => {
    const { uncovered, cut, coveredCount, generated, triples } = await pairsOf(
      { suites: selectChecks(suites, { only: ["AUTH-3"], skip: [] }) },
      withSlowClock,
    );
    const sooner = expect.stringContaining("responds sooner") as unknown;
    expect(uncovered).toEqual([]);
    expect(cut.map((each) => each.needs)).toContainEqual(sooner);
    expect(triples?.cut.map((each) => each.needs)).toContainEqual(sooner);
    expect(generated.length).toBeGreaterThan(0);
    expect(coveredCount).toBeGreaterThan(100);
  });
});
