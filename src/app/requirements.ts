import { line, UsageError } from "../base/line.ts";
import { isRequirementSet, newestRequirements, type RequirementSet, requirementSets } from "../spec/clause.ts";

/**
 * Returns the requirement set that `given` names, e.g. `1.0`; the newest set if `given` is undefined. `option`
 * is the option's name for error messages, e.g. `--requirements`.
 */
export function parseRequirements(given: unknown, option: string): RequirementSet {
  if (given === undefined) return newestRequirements;
  if (typeof given === "string" && isRequirementSet(given)) return given;
  const text = typeof given === "string" ? JSON.stringify(given) : typeof given;
  throw new UsageError(line`${option} is ${text}, which is no requirement set. Known: ${requirementSets.join(", ")}.`);
}
