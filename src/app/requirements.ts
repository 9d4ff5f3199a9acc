import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";
import { isRequirementSet, newestRequirements, type RequirementSet, requirementSets } from "../spec/requirements.ts";

/**
 * Returns the requirement set with the name `given`, or the newest set if `given` is `undefined`. For any other value,
 * throws an error that names the user's `option`.
 */
export function parseRequirements(given: unknown, option: string): RequirementSet {
  if (given === undefined) return newestRequirements;
  if (typeof given === "string" && isRequirementSet(given)) return given;
  const shown = typeof given === "string" ? JSON.stringify(given) : typeof given;
  throw new UsageError(line`${option} is ${shown}, which is no requirement set. Known: ${requirementSets.join(", ")}.`);
}
