/**
 * A set of refusals: one bit for each, by index. Limiters are compared by the set of refusals that they do not explain.
 */
export type RefusalSet = Uint32Array;

export function noRefusals(size: number): RefusalSet {
  return new Uint32Array((size + 31) >>> 5);
}

export function addRefusal(set: RefusalSet, index: number): void {
  set[index >>> 5] = (set[index >>> 5] ?? 0) | (1 << (index & 31));
}

export function hasRefusal(set: RefusalSet, index: number): boolean {
  return (((set[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
}

export function isEmpty(set: RefusalSet): boolean {
  return set.every((word) => word === 0);
}

export function intersection(left: RefusalSet, right: RefusalSet): RefusalSet {
  return left.map((word, index) => word & (right[index] ?? 0));
}

export function areDisjoint(left: RefusalSet, right: RefusalSet): boolean {
  return left.every((word, index) => (word & (right[index] ?? 0)) === 0);
}

/** Whether every refusal of `part` is in `whole`. */
export function isWithin(part: RefusalSet, whole: RefusalSet): boolean {
  return part.every((word, index) => (word & ~(whole[index] ?? 0)) === 0);
}

/** Maximum number of sets to keep for one model. It bounds the work. */
const keptSets = 48;

/**
 * Adds a set and keeps only minimal sets: a set that contains another one is dropped. If the list is full, the last set
 * is replaced by its intersection with the new one. This can only excuse more refusals.
 */
export function addPossibility(sets: RefusalSet[], set: RefusalSet): void {
  if (sets.some((kept) => isWithin(kept, set))) return;
  const stillMinimal = sets.filter((kept) => !isWithin(set, kept));
  const last = stillMinimal.length >= keptSets ? stillMinimal.pop() : undefined;
  stillMinimal.push(last === undefined ? set : intersection(last, set));
  sets.splice(0, sets.length, ...stillMinimal);
}
