import type { Behaviour } from "../reference/behaviour/behaviour.ts";
import { standard } from "../reference/behaviour/behaviour.ts";
import type { Override, Patch } from "../reference/patch.ts";

/** The decisions that a patch replaces. */
export function replacedDecisions({ override }: Patch): (keyof Behaviour)[] {
  const after: Partial<Behaviour> = override(standard);
  return (Object.keys(after) as (keyof Behaviour)[]).filter((decision) => after[decision] !== standard[decision]);
}

/** Several patches as one, applied in order. Alone, a patch is itself. */
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
