import { beforeAll, describe, expect, it } from "vitest";

import { hasPython, isFull, testSeed } from "../../base/testing/test-scope.ts";
import { startFormBServer } from "../../run/testing/form-b-server.ts";
import { cleanRunOf, cleanRunWith, drawSample, mutantsOf, runMutants, tryMutants } from "./run-mutants.ts";
import type { CleanRun } from "./mutant.ts";
import { judgeCleanRun, type MutantTrial, tryLegalMutants } from "./judge-mutants.ts";
import { summariseMutants } from "./survivors.ts";

/** Describes every mutant with a wrong result. */
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

  it("detect illegal mutants and accept legal ones", async () => {
    const trials = isFull
      ? await runMutants({ sample: null, seed: testSeed })
      : tryMutants({ runs: [reference], sample: inQuickRun, seed: testSeed, share: 0, of: 1 });
    expect(complaints(trials)).toEqual([]);
    expect(isFull ? summariseMutants(trials).needless : []).toEqual([]);
    expect(trials.length).toBeGreaterThanOrEqual(isFull ? 10_000 : inQuickRun);
  }, 300_000);

  it("detect one illegal mutant among legal ones that are judged together", () => {
    const own = drawSample(mutantsOf(reference), 500, testSeed);
    const wrong = own.find(({ operator }) => operator === "a rate header in words");
    const legal = own.filter(({ kind, id }) => kind === "legal" && id !== wrong?.id).slice(0, 10);
    if (wrong === undefined) throw new Error("none is drawn");
    const trials = tryLegalMutants(judgeCleanRun(reference), [...legal, { ...wrong, kind: "legal" }]);
    expect(trials.filter(({ status }) => status === "changed").map(({ mutant: { id } }) => id)).toEqual([wrong.id]);
    expect(trials.filter(({ status }) => status === "unchanged")).toHaveLength(legal.length);
  });

  // Only runs in a full run, because a quick run tries only a sample of the mutants.
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
