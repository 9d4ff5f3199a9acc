import type { Behaviour } from "../reference/behaviour/behaviour.ts";
import { standard } from "../reference/behaviour/behaviour.ts";
import type { Override, Patch } from "../reference/patch.ts";

/** The decisions that a patch replaces. */
export function replacedDecisions({ patch }: Patch): (keyof Behaviour)[] {
  const after: Partial<Behaviour> = patch(standard);
  return (Object.keys(after) as (keyof Behaviour)[]).filter((decision) => after[decision] !== standard[decision]);
}

/** Several patches as one, applied in order. Alone, a patch is itself. */
export function combinePatches(patches: readonly Patch[]): Patch {
  const [first, second] = patches;
  if (first !== undefined && second === undefined) return first;
  const patch: Override = (base) => patches.reduce<Behaviour>((left, each) => ({ ...left, ...each.patch(left) }), base);
  return {
    name: patches.map(({ name }) => name).join(" + "),
    kind: patches.every(({ kind }) => kind === "variant") ? "variant" : "fault",
    section: "",
    summary: "",
    breaks: [...new Set(patches.flatMap(({ breaks }) => breaks))],
    mayBreak: [...new Set(patches.flatMap(({ mayBreak }) => mayBreak))],
    shownBy: "suites",
    patch,
  };
}
