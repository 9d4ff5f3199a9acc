import { defaultRules, parseRegressionRules, type RegressionRules, UnknownRegression } from "../../compare/rules.ts";
import { UsageProblem } from "../../target/problem.ts";

/**
 * What counts as a regression, from the list that `--regression` gives; the default where it was not given.
 *
 * @throws {UsageProblem}
 */
export function readRegressionRules(list: string | undefined): RegressionRules {
  if (list === undefined) return defaultRules;
  try {
    return parseRegressionRules(list);
  } catch (error) {
    if (error instanceof UnknownRegression) throw new UsageProblem(`--regression: ${error.message}`);
    throw error;
  }
}
