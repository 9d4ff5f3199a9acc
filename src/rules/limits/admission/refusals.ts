/** A set of refusals, stored as a bitmap. For example, bit 5 stands for the refusal with index 5. */
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

export function isSubset(part: RefusalSet, whole: RefusalSet): boolean {
  return part.every((word, index) => (word & ~(whole[index] ?? 0)) === 0);
}

/** Maximum number of refusal sets to keep for one limiter model, to limit computing time. */
const maxKeptSets = 48;

/** Adds a set to a list of minimal sets, in which no set contains another. */
export function addMinimalSet(sets: RefusalSet[], set: RefusalSet): void {
  if (sets.some((kept) => isSubset(kept, set))) return;
  const stillMinimal = sets.filter((kept) => !isSubset(set, kept));
  const last = stillMinimal.length >= maxKeptSets ? stillMinimal.pop() : undefined;
  stillMinimal.push(last === undefined ? set : intersection(last, set));
  sets.splice(0, sets.length, ...stillMinimal);
}
