/**
 * The names of all requirement sets, the oldest first. A set is a version of what the suites judge: its clauses, their
 * levels, and its checks. Each set contains the earlier ones.
 */
export const requirementSets = ["1.0", "1.1", "1.2"] as const;

/** The name of a requirement set. */
export type RequirementSet = (typeof requirementSets)[number];

/**
 * The set by which a report on a server is judged, unless the user names another. It is the last set that added
 * something for servers.
 */
export const newestRequirements: RequirementSet = "1.2";

/** The newest set of all parties. It judges clients, receivers and files as well, which the earlier sets did not. */
export const latestRequirements: RequirementSet = "1.2";

/** The set of saved files that name no set: they were written when there was only one. */
export const firstRequirements: RequirementSet = "1.0";

export const isRequirementSet = (name: string): name is RequirementSet => requirementSets.some((each) => each === name);

/**
 * Whether something that was added in the set `since` belongs to the set `requirements`. The names may come from saved
 * files. An unknown set counts as later than all known sets.
 */
export const countsIn = (since: string, requirements: string): boolean => ageOf(since) <= ageOf(requirements);

function ageOf(name: string): number {
  const at = requirementSets.findIndex((each) => each === name);
  return at === -1 ? requirementSets.length : at;
}

/**
 * Whether something belongs to a later set than `requirements`, which therefore does not judge it. `since` is the set
 * in which it was added. Default: the first set.
 */
export const isLaterThan = (requirements: string, since: string = firstRequirements): boolean =>
  !countsIn(since, requirements);

/** Returns the later of two sets. */
export const laterSet = (one: RequirementSet, other: RequirementSet): RequirementSet =>
  countsIn(one, other) ? other : one;
