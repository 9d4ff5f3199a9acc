import { beforeAll, describe, expect, it } from "vitest";

import { hasPython } from "../../base/testing/commands.ts";
import { isFull, testSeed } from "../../base/testing/test-scope.ts";
import { startFormBServer } from "../../run/testing/form-b-server.ts";
import type { CleanRun } from "./clean-run.ts";
import { cleanRunOf, cleanRunWith } from "./clean-runs.ts";
import { judgeCleanRun, type MutantTrial, tryLegal } from "./judging.ts";
import { mutantsOf } from "./operators/all.ts";
import { runMutants, tryMutants, drawSample } from "./run-mutants.ts";
import { summariseMutants } from "./summary.ts";

/** What is wrong with mutants, in words; empty where each met the fate that it should. */
const complaints = (trials: readonly MutantTrial[]): string[] =>
  summariseMutants(trials)
    .groups.filter(({ reason }) => reason === null)
    .map(
      ({ fate, operator, place, subject, example: { source, id, said } }) =>
        `${fate}: ${operator}, ${subject} of ${place} (${source}, ${id}) ${said.join("; ")}`,
    );

const inQuickRun = 500;

describe("the checks, of evidence that is spoilt one step at a time", () => {
  let reference: CleanRun;
  beforeAll(async () => {
    reference = await cleanRunWith("reference", []);
  });

  it("notice what is wrong, and nothing that is legal", async () => {
    const trials = isFull
      ? await runMutants({ sample: null, seed: testSeed })
      : tryMutants({ runs: [reference], sample: inQuickRun, seed: testSeed, share: 0, of: 1 });
    expect(complaints(trials)).toEqual([]);
    expect(isFull ? summariseMutants(trials).needless : []).toEqual([]);
    expect(trials.length).toBeGreaterThanOrEqual(isFull ? 10_000 : inQuickRun);
  }, 300_000);

  it("notice the one among legal ones, judged together, that is wrong", () => {
    const own = drawSample(mutantsOf(reference), 500, testSeed);
    const wrong = own.find(({ operator }) => operator === "a rate header in words");
    const legal = own.filter(({ kind, id }) => kind === "legal" && id !== wrong?.id).slice(0, 10);
    if (wrong === undefined) throw new Error("none is drawn");
    const trials = tryLegal(judgeCleanRun(reference), [...legal, { ...wrong, kind: "legal" }]);
    expect(trials.filter(({ status }) => status === "changed").map(({ mutant: { id } }) => id)).toEqual([wrong.id]);
    expect(trials.filter(({ status }) => status === "unchanged")).toHaveLength(legal.length);
  });

  // Only a full run asks of it: a quick one leaves nothing out that it would have asked.
  it.skipIf(!hasPython()).each(isFull ? ["another author"] : [])(
    "do so of a server by %s, too",
    async () => {
      const server = await startFormBServer(null);
      try {
        const run = await cleanRunOf("another author's", server.target);
        expect(complaints(tryMutants({ runs: [run], sample: null, seed: testSeed, share: 0, of: 1 }))).toEqual([]);
      } finally {
        server.close();
      }
    },
    300_000,
  );
});
