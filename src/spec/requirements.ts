/**
 * The requirement sets, oldest first. A set is a version of what the suite judges: its clauses, their levels, and its checks. Each set contains the
 * earlier ones.
 */
export const requirementSets = ["1.0", "1.1"] as const;

/** A version of the requirements. */
export type RequirementSet = (typeof requirementSets)[number];

/** The set that a report is judged by unless its user chooses another. */
export const newestRequirements: RequirementSet = "1.1";

/** The set of files that name no set. Earlier versions had no sets. */
export const firstRequirements: RequirementSet = "1.0";

export const isRequirementSet = (name: string): name is RequirementSet => requirementSets.some((each) => each === name);

/**
 * Whether a requirement that was added in the set `since` is part of the set `requirements`. The names may come from
 * saved files. An unknown set counts as later than every known one.
 */
export const countsIn = (since: string, requirements: string): boolean => ageOf(since) <= ageOf(requirements);

function ageOf(name: string): number {
  const at = requirementSets.findIndex((each) => each === name);
  return at === -1 ? requirementSets.length : at;
}

/**
 * Whether something belongs to a later set than `requirements`, so that this set does not judge it. `since` is the set
 * that it was sent or judged for; default: the first.
 */
export const isLaterThan = (requirements: string, since: string = firstRequirements): boolean =>
  !countsIn(since, requirements);

/** The later one of two sets. */
export const laterSet = (one: RequirementSet, other: RequirementSet): RequirementSet =>
  countsIn(one, other) ? other : one;
