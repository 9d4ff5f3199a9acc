import { findingKey } from "../../compare/find-changes.ts";
import type { Outcome } from "../../model/report.ts";
import type { Night } from "../night.ts";

/** A check that holds on one night and is broken on another, again and again. */
export interface FlakyCheck {
  readonly check: string;
  readonly instance: string | null;
  /** How often it changed sides. */
  readonly flips: number;
  /** Of how many nights that judged it, and on how many of these it was broken. */
  readonly nights: number;
  readonly broken: number;
}

/** How many of the last nights are looked at, and how many changes of side make a check flaky: one that broke once and was mended has two. */
export const flakyNights = 14;
const leastFlips = 3;

export const isBroken = (outcome: Outcome): boolean =>
  outcome === "fail" || outcome === "warning" || outcome === "note";
export const isJudged = (outcome: Outcome): boolean => outcome !== "skipped" && outcome !== "error";

/** Checks that are flaky by now, those that change sides most often first. Nights that did not exercise one say nothing of it. */
export function flakyChecksOf(nights: readonly Night[]): FlakyCheck[] {
  const sides = new Map<string, { check: string; instance: string | null; broken: boolean[] }>();
  for (const { findings } of nights.slice(-flakyNights))
    for (const finding of findings) {
      if (!isJudged(finding.outcome)) continue;
      const key = findingKey(finding);
      const known = sides.get(key) ?? { check: finding.check, instance: finding.instance ?? null, broken: [] };
      known.broken.push(isBroken(finding.outcome));
      sides.set(key, known);
    }
  return [...sides.values()]
    .map(({ check, instance, broken }) => ({
      check,
      instance,
      flips: broken.filter((side, at) => at > 0 && side !== broken[at - 1]).length,
      nights: broken.length,
      broken: broken.filter(Boolean).length,
    }))
    .filter(({ flips }) => flips >= leastFlips)
    .toSorted((one, other) => other.flips - one.flips);
}
