import { type Behaviour, standardBehaviour } from "../reference/behaviour/behaviour.ts";
import type { Override, Patch } from "../reference/patch.ts";

/**
 * Picks faults that together break every clause that any fault breaks. A fault is not picked if the faults before it
 * break all its clauses.
 */
export function faultsCoveringClauses(faults: readonly Patch[]): readonly Patch[] {
  const open = new Set(faults.flatMap(({ breaks }) => breaks));
  return faults.filter(({ breaks }) => {
    const isNeeded = breaks.some((clause) => open.has(clause));
    for (const clause of breaks) open.delete(clause);
    return isNeeded;
  });
}

/**
 * Divides variants into groups of at most `most`. Two variants that replace the same function of `Behaviour` are in
 * different groups.
 */
export function groupCompatibleVariants(variants: readonly Patch[], most: number): readonly (readonly Patch[])[] {
  const groups: { readonly taken: Set<string>; readonly members: Patch[] }[] = [];
  for (const variant of variants) {
    const decisions = replacedDecisions(variant);
    const fits = groups.find(
      ({ taken, members }) => members.length < most && !decisions.some((decision) => taken.has(decision)),
    );
    const group = fits ?? { taken: new Set<string>(), members: [] };
    if (fits === undefined) groups.push(group);
    group.members.push(variant);
    for (const decision of decisions) group.taken.add(decision);
  }
  return groups.map(({ members }) => members);
}

/** Returns the names of the functions of `Behaviour` that a fault or variant replaces. */
export function replacedDecisions({ override }: Patch): (keyof Behaviour)[] {
  const after: Partial<Behaviour> = override(standardBehaviour);
  return (Object.keys(after) as (keyof Behaviour)[]).filter(
    (decision) => after[decision] !== standardBehaviour[decision],
  );
}

/** Combines several faults or variants into one, applied in order. A single one is returned unchanged. */
export function combinePatches(patches: readonly Patch[]): Patch {
  const [first, second] = patches;
  if (first !== undefined && second === undefined) return first;
  const override: Override = (base) =>
    patches.reduce<Behaviour>((left, each) => ({ ...left, ...each.override(left) }), base);
  return {
    name: patches.map(({ name }) => name).join(" + "),
    kind: patches.every(({ kind }) => kind === "variant") ? "variant" : "fault",
    section: "",
    summary: "",
    breaks: [...new Set(patches.flatMap(({ breaks }) => breaks))],
    mayAlsoBreak: [...new Set(patches.flatMap(({ mayAlsoBreak }) => mayAlsoBreak))],
    detectedBy: "suites",
    override,
  };
}
