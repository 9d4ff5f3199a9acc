import type { Patch } from "../patch.ts";
import { allFaults, allVariants, findPatch } from "../catalogue.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";

/**
 * Finds faults and variants by their names.
 *
 * @throws {UsageError} if a name is unknown. The message suggests similar names.
 */
export function patchesByName(faults: readonly string[], variants: readonly string[]): Patch[] {
  return [...faults.map((name) => findOrThrow(name, "fault")), ...variants.map((name) => findOrThrow(name, "variant"))];
}

function findOrThrow(name: string, kind: Patch["kind"]): Patch {
  const patch = findPatch(kind, name);
  if (patch !== undefined) return patch;
  const words = name
    .toLowerCase()
    .split("-")
    .filter((word) => word.length > 2);
  const similar = (kind === "fault" ? allFaults : allVariants)
    .map((each) => each.name)
    .filter((each) => words.some((word) => each.includes(word)));
  const advice = similar.length === 0 ? "" : ` Near: ${similar.slice(0, 6).join(", ")}.`;
  throw new UsageError(
    line`There is no ${kind} ${JSON.stringify(name)}.${advice} \`conformance serve --help\` lists them.`,
  );
}
