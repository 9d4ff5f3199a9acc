import { describe, expect, it } from "vitest";

import { hasPython } from "../../base/testing/commands.ts";
import { isFull, testSeed } from "../../base/testing/extent.ts";
import { startFormBServer } from "../../run/testing/form-b-server.ts";
import { cleanRunOf, cleanRunWith } from "./clean-runs.ts";
import type { MutantTrial } from "./judging.ts";
import { runMutants, tryMutants } from "./run-mutants.ts";
import { summariseMutants } from "./summary.ts";

/** What is wrong with mutants, in words; empty where each met the fate that it should. */
const complaints = (trials: readonly MutantTrial[]): string[] =>
  summariseMutants(trials)
    .groups.filter(({ reason }) => reason === null)
    .map(
      ({ fate, operator, place, subject, example: { source, id, said } }) =>
        `${fate}: ${operator}, ${subject} of ${place} (${source}, ${id}) ${said.join("; ")}`,
    );

const inQuickRun = 1000;

describe("the checks, of evidence that is spoilt one step at a time", () => {
  it("notice what is wrong, and nothing that is legal", async () => {
    const trials = isFull
      ? await runMutants({ sample: null, seed: testSeed })
      : tryMutants({ run: await cleanRunWith("reference", []), sample: inQuickRun, seed: testSeed, share: 0, of: 1 });
    expect(complaints(trials)).toEqual([]);
    expect(isFull ? summariseMutants(trials).needless : []).toEqual([]);
    expect(trials.length).toBeGreaterThanOrEqual(isFull ? 10_000 : inQuickRun);
  }, 300_000);

  // Only a full run asks of it: a quick one leaves nothing out that it would have asked.
  it.skipIf(!hasPython()).each(isFull ? ["another author"] : [])(
    "do so of a server by %s, too",
    async () => {
      const server = await startFormBServer(null);
      try {
        const run = await cleanRunOf("another author's", server.target);
        expect(complaints(tryMutants({ run, sample: null, seed: testSeed, share: 0, of: 1 }))).toEqual([]);
      } finally {
        server.close();
      }
    },
    300_000,
  );
});
