import type { Suite } from "../run/check.ts";
import { selectChecks } from "../run/selection.ts";
import { suites } from "../suites/all.ts";
import { UsageProblem } from "../target/problem.ts";

/** Which checks are meant. Patterns are clause ids, check ids, suites, or globs of them (`SSE-*`). */
export interface CheckSelection {
  /** Only these. Default: all. */
  readonly only?: readonly string[];
  /** All but these. */
  readonly skip?: readonly string[];
}

/**
 * The suites with the selected checks alone.
 *
 * @throws {UsageProblem} where a pattern matches nothing, or no check is left.
 */
export function selected({ only = [], skip = [] }: CheckSelection): Suite[] {
  for (const [name, given] of Object.entries({ only, skip }))
    if (!isListOfTexts(given))
      throw new UsageProblem(`${name} is no list of patterns. Give it like ["Invoke", "SSE-*"].`);
  return selectChecks(suites, { only, skip });
}

const isListOfTexts = (given: unknown): boolean =>
  Array.isArray(given) && given.every((each) => typeof each === "string");
