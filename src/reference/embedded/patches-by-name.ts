import type { Patch } from "../patch.ts";
import { allFaults, allVariants, findPatch } from "../catalogue.ts";
import { UsageError } from "../../base/usage-error.ts";

/**
 * The faults and variants of the given names.
 *
 * @throws {UsageError} that names near ones.
 */
export function patchesByName(faults: readonly string[], variants: readonly string[]): Patch[] {
  return [...faults.map((name) => find(name, "fault")), ...variants.map((name) => find(name, "variant"))];
}

function find(name: string, kind: Patch["kind"]): Patch {
  const found = findPatch(kind, name);
  if (found !== undefined) return found;
  const words = name
    .toLowerCase()
    .split("-")
    .filter((word) => word.length > 2);
  const near = (kind === "fault" ? allFaults : allVariants).filter((patch) =>
    words.some((word) => patch.name.includes(word)),
  );
  const advice =
    near.length === 0
      ? ""
      : ` Near: ${near
          .slice(0, 6)
          .map((patch) => patch.name)
          .join(", ")}.`;
  throw new UsageError(
    `There is no ${kind} ${JSON.stringify(name)}.${advice} \`conformance serve --help\` lists them.`,
  );
}
