import { describe, expect, it } from "vitest";

import { runsOf, testSeed } from "../base/testing/test-scope.ts";
import { allVariants, patchesByName } from "../reference/catalogue.ts";
import { complaintsOfLegal, drawVariants, incompatibleVariants, trySeeds } from "./seeds.ts";
import { replacedDecisions, combinePatches } from "./scope.ts";
import { tryGroups } from "./trial.ts";

const seeds = Array.from({ length: runsOf({ quick: 1, full: 50 }) }, (_, index) => testSeed * 1000 + index);

describe("variants that a seed draws", () => {
  it.each(Array.from({ length: 40 }, (_, seed) => seed))("agree with each other, for seed %i", (seed) => {
    const drawn = drawVariants(seed);
    const decisions = drawn.flatMap(replacedDecisions);
    expect(drawn.length).toBeGreaterThanOrEqual(10);
    expect(new Set(decisions).size).toBe(decisions.length);
    expect(drawVariants(seed)).toEqual(drawn);
  });

  it("combine into one patch with all their decisions and notes", () => {
    const drawn = drawVariants(1);
    const merged = combinePatches(drawn);
    expect(new Set(replacedDecisions(merged))).toEqual(new Set(drawn.flatMap(replacedDecisions)));
    expect(merged.breaks).toEqual([...new Set(drawn.flatMap(({ breaks }) => breaks))]);
  });
});

describe("two variants that are illegal together", () => {
  const pairs = incompatibleVariants.map(({ names }) => allVariants.filter(({ name }) => names.includes(name)));

  it("are never drawn together", () => {
    for (const pair of pairs)
      for (let seed = 0; seed < 20; seed += 1) expect(drawVariants(seed, pair).length).toBeLessThan(2);
  });

  it("turn the clause of their reason red", async () => {
    const trials = await tryGroups(pairs, "short");
    for (const [index, { reason }] of incompatibleVariants.entries()) {
      const red = trials[index] === undefined ? [] : complaintsOfLegal(trials[index]);
      expect(red.join("\n")).toContain(/\(([A-Z]+-\d+)\)/.exec(reason)?.[1]);
    }
  });
});

/** Pairs of variants that once turned a check red. */
const legalPairs = [["event-payloads-of-other-shape", "event-id-of-attempt"]];

it.each(legalPairs)("the variants %s and %s pass together", async (...names) => {
  const [trial = expect.fail("was not tried")] = await tryGroups([patchesByName([], names)], "short");
  expect(complaintsOfLegal(trial)).toEqual([]);
});

it.each(await trySeeds(seeds, "short"))("a legal server of many variants passes, of seed $seed", (trial) => {
  expect({ complaints: trial.complaints, fewest: trial.fewest }).toEqual({ complaints: [], fewest: [] });
});
