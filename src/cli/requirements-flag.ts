import { parseRequirements } from "../app/requirements.ts";
import { newestRequirements, type RequirementSet, requirementSets } from "../spec/requirements.ts";

/** The flag `--requirements`, which every command that judges has. */
export interface RequirementsFlag {
  readonly requirements?: string;
}

/** The flag `--requirements` and its help, as arguments of commander's `option`. */
export const requirementsOption = [
  "--requirements <set>",
  `judge by this requirement set: ${requirementSets.join(", ")} (default: ${newestRequirements}); later checks run and do not count`,
] as const;

/**
 * Reads the requirement set to judge by.
 *
 * @throws {UsageError} if there is no such set
 */
export const readRequirements = ({ requirements }: RequirementsFlag): RequirementSet =>
  parseRequirements(requirements, "--requirements");
