import { scenarioNamed, scenarios, type Scenario } from "../../load/scenarios.ts";
import { UnsendableLoadError } from "./not-sent-reason.ts";
import type { LoadParameters } from "./load-parameters.ts";

/** Default scenarios of a load on the embedded server. They cover all tiers and take less than a minute. */
export const defaultScenarios = ["minute-limit", "burst", "concurrency", "recovery", "far-over"] as const;
/**
 * Default scenarios of a load on any other target. They are few, because without a test clock, a key pauses for a
 * minute between two scenarios.
 */
export const defaultScenariosInRealTime = ["concurrency", "burst", "minute-limit"] as const;

/**
 * Returns the scenarios with the given names, without duplicates. An empty list of names stands for the default
 * scenarios.
 *
 * @throws {UnsendableLoadError} if a scenario is unknown; the message suggests similar names
 */
export function chooseScenarios(names: LoadParameters["scenarios"], isRealTime: boolean): readonly Scenario[] {
  if (names === "all") return scenarios;
  const wanted = names.length > 0 ? names : isRealTime ? defaultScenariosInRealTime : defaultScenarios;
  return [...new Set(wanted)].map((name) => {
    const found = scenarioNamed(name);
    if (found !== undefined) return found;
    throw new UnsendableLoadError({ kind: "unknown scenario", name, near: similarNames(name) });
  });
}

const maxSuggestions = 4;

function similarNames(name: string): string[] {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  return scenarios
    .map((each) => each.name)
    .filter((each) => isSimilar(each, name, words))
    .slice(0, maxSuggestions);
}

const isSimilar = (name: string, typed: string, words: readonly string[]): boolean =>
  words.some((word) => word.length > 2 && name.includes(word)) || editDistance(name, typed.toLowerCase()) <= 3;

/**
 * Returns the Levenshtein distance of two texts: how many letters to insert, delete or replace to turn one into the
 * other.
 */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of Array.from(one).entries()) {
    const next = [at + 1];
    for (const [place, each] of Array.from(other).entries())
      next.push(
        Math.min((next[place] ?? 0) + 1, (row[place + 1] ?? 0) + 1, (row[place] ?? 0) + (each === letter ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
