import { scenarioNamed, scenarios, type Scenario } from "../../load/scenarios.ts";
import { UnsendableLoadError } from "./not-sent-reason.ts";
import type { LoadParameters } from "./load-parameters.ts";

/** The default scenarios for the embedded server. They cover all tiers and take less than a minute. */
export const defaultScenarios = ["minute-limit", "burst", "concurrency", "recovery", "far-over"] as const;
/** The default scenarios for a target without a test clock. They are few, because a key pauses for a minute between two scenarios. */
export const defaultScenariosInRealTime = ["concurrency", "burst", "minute-limit"] as const;

/**
 * Returns the scenarios with these names, without duplicates. Without names, returns the default scenarios.
 *
 * @throws {UnsendableLoadError} if a scenario is unknown; the message suggests similar names
 */
export function chooseScenarios(names: LoadParameters["scenarios"], isRealTime: boolean): readonly Scenario[] {
  if (names === "all") return scenarios;
  const wanted = names.length > 0 ? names : isRealTime ? defaultScenariosInRealTime : defaultScenarios;
  return [...new Set(wanted)].map((name) => {
    const found = scenarioNamed(name);
    if (found !== undefined) return found;
    throw new UnsendableLoadError({ kind: "unknown scenario", name, near: suggestNames(name) });
  });
}

const maxSuggestions = 4;

function suggestNames(name: string): string[] {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  return scenarios
    .map((each) => each.name)
    .filter((each) => isSimilar(each, name, words))
    .slice(0, maxSuggestions);
}

const isSimilar = (name: string, typed: string, words: readonly string[]): boolean =>
  words.some((word) => word.length > 2 && name.includes(word)) || distance(name, typed.toLowerCase()) <= 3;

/** The Levenshtein distance of two texts: how many letters to insert, delete or change. */
function distance(one: string, other: string): number {
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
