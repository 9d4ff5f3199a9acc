import { describe, expect, it } from "vitest";
import { runsOf, testSeed } from "../base/testing/test-scope.ts";
import { seededRandom } from "../base/numbers.ts";
import { clauseIds } from "../spec/clauses.ts";
import type { Patch } from "../reference/patch.ts";
import { allVariants, suiteFaults } from "../reference/catalogue.ts";
import { probesOf } from "../run/judge/check.ts";
import type { Probe } from "../run/probe.ts";
import { suites } from "../suites/all.ts";
import {
  affectsLimits,
  faultsCoveringClauses,
  groupCompatibleVariants,
  replacedDecisions,
  scopeOf,
  type TrialExtent,
} from "./scope.ts";
import { type PatchTrial, tryPatch } from "./trial.ts";

const patches = [...suiteFaults, ...allVariants];
const named = (name: string): Patch => patches.find((patch) => patch.name === name) as Patch;
const checksIn = (patch: Patch, extent: TrialExtent): string[] =>
  scopeOf(patch, extent).suites.flatMap(({ checks }) => checks.map(({ id }) => id));

const looksBack = ({ stage }: Probe): boolean => stage === "review";

/** Clauses whose checks use neither probes of the stage `review` nor tier probes. */
const clausesOfOneProbe: ReadonlySet<string> = new Set(
  clauseIds.filter((id) =>
    suites
      .flatMap(({ checks }) => checks.filter(({ clause }) => clause === id))
      .every(({ on }) => Object.values(probesOf(on)).every((each) => each.per === "target" && !looksBack(each))),
  ),
);

describe("a patch concerns limits", () => {
  it.each([
    { name: "one-too-many-a-minute", because: "it replaces the limiters", concerns: true },
    { name: "reset-in-milliseconds", because: "it replaces the headers of limits", concerns: true },
    { name: "refusals-count", because: "a variant may replace a decision that limits, too", concerns: true },
    { name: "limit-answers-503", because: "it breaks a clause that a tier's probe shows", concerns: true },
    { name: "missing-query-other-code", because: "it replaces the code of an error", concerns: false },
  ])("$name ($concerns): $because", ({ name, concerns }) => {
    expect(affectsLimits(named(name))).toBe(concerns);
  });

  it("or else is tried without the checks that use up a tier's limits, and in full with all of them", () => {
    const [of, other] = [named("one-too-many-a-minute"), named("missing-query-other-code")];
    const everything = checksIn(of, "full");
    expect(checksIn(of, "short")).toEqual(everything);
    expect(checksIn(other, "full")).toEqual(everything);
    const left = everything.filter((id) => !checksIn(other, "short").includes(id));
    expect(left).toContain("LIM-1");
    expect(left.filter((id) => !/^(LIM|HLT-15|HDR-17|HDR-19|HDR-10\/)/.test(id))).toEqual([]);
  });
});

describe("a trial in the sections alone that speak of what a patch breaks", () => {
  it.each(["missing-query-other-code", "one-too-many-a-minute", "limit-of-no-tier"])(
    "has for %s every check of those clauses that a short one has, and fewer of others",
    (name) => {
      const patch = named(name);
      const [own, short] = [checksIn(patch, "own"), checksIn(patch, "short")];
      const broken: readonly string[] = patch.breaks;
      const isOfBroken = (id: string): boolean => broken.includes(id.split("/")[0] ?? id);
      expect(own.filter(isOfBroken)).toEqual(short.filter(isOfBroken));
      expect(own.some(isOfBroken)).toBe(true);
      expect(own.filter((id) => !short.includes(id))).toEqual([]);
      expect(own.length).toBeLessThan(short.length / 2);
    },
  );
});

describe("a trial without the probes that use up a tier's limits", () => {
  const others = patches.filter((patch) => !affectsLimits(patch));
  const numbers = seededRandom(testSeed);
  const drawn = Array.from(
    { length: runsOf({ quick: 1, full: 20 }) },
    () => others[Math.floor(numbers() * others.length)] as Patch,
  );

  it.each([...new Set(drawn)])("says of $kind $name what the whole one says", async (patch) => {
    const shared = new Set(checksIn(patch, "short"));
    const short = await tryPatch(patch, scopeOf(patch, "short"));
    const full = await tryPatch(patch, scopeOf(patch, "full"));
    expect(rowsOf(short, shared)).toEqual(rowsOf(full, shared));
    // The checks that only the full trial has must not turn red: the patch does not affect them.
    expect(full.redChecks.filter((id) => !shared.has(id))).toEqual([]);
  });
});

/**
 * Returns the results to compare: those of the checks that both trials have. Readings are compared only for clauses in
 * `clausesOfOneProbe`. Other checks judge all requests of a run, and with more requests may show another reading.
 */
function rowsOf({ redChecks, skipped, errors, readings }: PatchTrial, shared: ReadonlySet<string>) {
  const isShared = (text: string): boolean => shared.has(text.split(": ")[0] ?? text);
  const rows = {
    redChecks: redChecks.filter(isShared),
    skipped: skipped.filter(isShared),
    errors: errors.filter(isShared),
    readings: readings.filter((text) => clausesOfOneProbe.has(text.split("=")[0] ?? "")),
  };
  return Object.fromEntries(
    Object.entries(rows).map(([kind, texts]) => [kind, texts.toSorted((a, b) => a.localeCompare(b))]),
  );
}

describe("what a quick selftest draws from", () => {
  it("covers every clause that a fault breaks, with fewer faults", () => {
    const chosen = faultsCoveringClauses(suiteFaults);
    const clausesOf = (faults: typeof chosen): Set<string> => new Set(faults.flatMap(({ breaks }) => breaks));
    expect(clausesOf(chosen)).toEqual(clausesOf(suiteFaults));
    expect(chosen.length).toBeLessThan(suiteFaults.length);
  });

  it("contain every variant, and never two that replace the same decision", () => {
    const groups = groupCompatibleVariants(allVariants, 8);
    expect(new Set(groups.flat())).toEqual(new Set(allVariants));
    expect(groups.flat()).toHaveLength(allVariants.length);
    for (const group of groups) {
      const decisions = group.flatMap(replacedDecisions);
      expect(group.length).toBeLessThanOrEqual(8);
      expect(new Set(decisions).size).toBe(decisions.length);
    }
  });
});
