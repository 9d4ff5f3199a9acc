import {
  defaultRegressionRules,
  parseRegressionRules,
  type RegressionRules,
  InvalidRegressionList,
} from "../report/compare/regression-rules.ts";
import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";

/**
 * Reads `--regression`, the list of changes that count as regressions.
 *
 * @throws {UsageError} if a change is unknown
 */
export function readRegressionRules(list: string | undefined): RegressionRules {
  if (list === undefined) return defaultRegressionRules;
  try {
    return parseRegressionRules(list);
  } catch (error) {
    if (error instanceof InvalidRegressionList) throw new UsageError(line`--regression: ${error.message}`);
    throw error;
  }
}
