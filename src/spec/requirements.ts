/** All requirement sets, the oldest first; each set contains all earlier ones. */
export const requirementSets = ["1.0", "1.1", "1.2"] as const;

export type RequirementSet = (typeof requirementSets)[number];

/** The default requirement set for servers: the last one that added a requirement for servers. */
export const newestRequirements: RequirementSet = "1.2";

/** The newest requirement set. Only this set judges clients, webhook receivers and configuration files. */
export const latestRequirements: RequirementSet = "1.2";

/** The requirement set of saved files that do not name one. They were written when 1.0 was the only set. */
export const firstRequirements: RequirementSet = "1.0";

export const isRequirementSet = (name: string): name is RequirementSet => requirementSets.some((each) => each === name);

/**
 * Whether a requirement added in set `since` is part of set `requirements`. An unknown set counts as later than all
 * known sets.
 */
export const countsIn = (since: string, requirements: string): boolean => ageOf(since) <= ageOf(requirements);

function ageOf(name: string): number {
  const at = requirementSets.findIndex((each) => each === name);
  return at === -1 ? requirementSets.length : at;
}

export const isLaterThan = (requirements: string, since: string = firstRequirements): boolean =>
  !countsIn(since, requirements);

export const laterSet = (one: RequirementSet, other: RequirementSet): RequirementSet =>
  countsIn(one, other) ? other : one;
