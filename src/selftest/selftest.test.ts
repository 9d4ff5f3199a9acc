import { describe, expect, it } from "vitest";

import { clauseIds, clauseOf } from "../spec/clauses.ts";
import type { Patch } from "../reference/patch.ts";
import { suiteFaults, allVariants } from "../reference/catalogue.ts";
import { suites } from "../suites/all.ts";
import { isFull, sampleOf, testSeed, triesEveryFault } from "../base/testing/test-scope.ts";
import { complaintsOf, tryGroups } from "./trial.ts";
import { affectsLimits, type TrialExtent, groupCompatibleVariants, faultsCoveringClauses } from "./scope.ts";
import { complaintsOfLegal } from "./seeds.ts";

/** Returns the cases that can be tested only if every fault and variant is tried; none in a quick run. */
const ofAll = <T>(each: readonly T[]): readonly T[] => (triesEveryFault ? each : []);
const isEvery = (of: number, at: number): boolean => at % of === testSeed % of;
/**
 * A quick run tries a fault for every fourth clause, mostly with the suites of that clause only, and a quarter of the
 * servers with several variants. A full run tries every fault and variant by itself, with all suites. Trials try every
 * fault and every server with several variants, and use less of what takes longest; the seed chooses what:
 *
 * - one of twelve variants is tried by itself;
 * - one of twelve faults is tried with all suites, the others with the suites of their clauses;
 * - for faults of limits, another one of twelve trials uses the largest tiers;
 * - of all others, one of 24 trials uses up limits.
 *
 * `scope.test.ts` shows that this makes no difference.
 */
const faults = triesEveryFault ? suiteFaults : sampleOf(faultsCoveringClauses(suiteFaults), { of: 4 });
const variants = isFull ? allVariants : ofAll(allVariants).filter((_, at) => isEvery(12, at));
const alone = [...faults, ...variants].map((patch) => [patch]);
const mostAtOnce = 16;
const allGroups = groupCompatibleVariants(allVariants, mostAtOnce);
const groups = isFull ? [] : triesEveryFault ? allGroups : sampleOf(allGroups, { of: 4 });
const quickExtents = alone.map((_, at): TrialExtent => (isEvery(32, at) ? "short" : "own"));
const trialExtents = alone.map((group, at): TrialExtent => {
  if (isFull || isEvery(group.some(affectsLimits) ? 12 : 24, at)) return "full";
  return isEvery(12, at + 1) || group.some(({ kind }) => kind === "variant") ? "short" : "own";
});
const extents: ReadonlyMap<readonly Patch[], TrialExtent | undefined> = new Map(
  alone.map((group, at) => [group, (triesEveryFault ? trialExtents : quickExtents)[at]]),
);

const tried = await tryGroups([...alone, ...groups], (group) => extents.get(group) ?? "short");
const trials = tried.slice(0, alone.length);
const legal = tried.slice(alone.length);
const byName = new Map(trials.map((trial) => [`${trial.kind} ${trial.name}`, trial]));
const checks = suites.flatMap((suite) => suite.checks);

const complaints = (kind: "fault" | "variant", name: string): string[] => {
  const trial = byName.get(`${kind} ${name}`);
  if (trial === undefined) return ["was not tried"];
  const unprovable = unprovableClauses[name] ?? [];
  return complaintsOf(trial).filter((printed) => !unprovable.some((clause) => printed.startsWith(`skips ${clause}`)));
};

/**
 * For each variant: clauses that cannot be proven on every tier. A burst that the document does not publish explains
 * any refusal.
 */
const unprovableClauses: Readonly<Record<string, readonly string[]>> = {
  "team-burst-50": ["LIM-2:", "LIM-3/stream:", "LIM-4:", "LIM-13/hour:"],
};

/**
 * Clauses that a server on loopback cannot break, because a local address need not be HTTPS. The tests of these checks
 * use tables of evidence instead.
 */
const unshowable: ReadonlySet<string> = new Set(["REQ-1"]);
/** Checks that no fault of these trials turns red. The tests of these checks use tables of evidence instead. */
const unshowableChecks: ReadonlySet<string> = new Set([
  // A server that never frees slots would refuse nearly everything else as well.
  "LIM-17",
  // Applies only to keys with a small limit per minute. The keys of a trial have large ones.
  "LIM-11/as sent",
  "HLT-16/as sent",
  // A trial advances the clock, so a month may end during it.
  "USE-8/all along",
  // Needs a real clock and a second key: src/run/spare-key.test.ts has faults for each of these checks.
  "LIM-1/every key",
  "LIM-2/every key",
  "LIM-9/every key",
  "LIM-6/spare key",
  "LIM-18/spare key",
  "LIM-17/spare key, streams",
  "LIM-17/spare key, refused input",
  "SSE-27/spare key",
]);
/**
 * Readings that the server cannot follow. The server is not on HTTPS. Its agents include a degraded one with
 * `warnings`, and an overloaded one that reports a retry time.
 */
const unshowableReadings: ReadonlySet<string> = new Set(["REQ-1=https", "HLT-10=absent", "SSE-16=absent"]);

describe("the suites against the reference server", () => {
  it.each(faults.map(({ name }) => name))("catch the fault %s by exactly what it breaks", (name) => {
    expect(complaints("fault", name)).toEqual([]);
  });

  it.each(legal)("pass the legal server of $name", (trial) => {
    expect(complaintsOfLegal(trial)).toEqual([]);
  });

  it.each(variants.map(({ name }) => name))("pass the variant %s", (name) => {
    expect(complaints("variant", name)).toEqual([]);
  });

  it.each(
    ofAll(checks)
      // A check that repeats an earlier one has the same rule, which the earlier one's faults already test.
      .filter(({ widens }) => widens === undefined)
      .filter(({ clause }) => clauseOf(clause).level !== "gap" && !unshowable.has(clause))
      .map(({ id }) => id)
      .filter((id) => !unshowableChecks.has(id)),
  )("have a fault that turns the check %s red", (id) => {
    expect(tried.some(({ redChecks }) => redChecks.includes(id))).toBe(true);
  });

  const readings = clauseIds
    .filter((id) => clauseOf(id).untestable === undefined)
    .flatMap((id) => Object.keys(clauseOf(id).readings ?? {}).map((reading) => `${id}=${reading}`));

  it.each(ofAll(readings).filter((reading) => !unshowableReadings.has(reading)))(
    "meet a server that follows the reading %s",
    (reading) => {
      expect(tried.some((trial) => trial.kind === "variant" && trial.readings.includes(reading))).toBe(true);
    },
  );
});
