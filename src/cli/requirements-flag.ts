import { parseRequirements } from "../app/requirements.ts";
import type { RequirementSet } from "../spec/requirements.ts";

/** The flag of every command that judges. */
export interface RequirementsFlag {
  readonly requirements?: string;
}

/**
 * Reads the requirement set to judge by.
 *
 * @throws {UsageError} if there is no such set
 */
export const readRequirements = ({ requirements }: RequirementsFlag): RequirementSet =>
  parseRequirements(requirements, "--requirements");
