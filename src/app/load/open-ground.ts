import type { LoadEnvironment } from "../../load/run-trials.ts";
import type { Patch } from "../../reference/patch.ts";
import type { Target } from "../../target/target.ts";
import { openEmbeddedEnvironment } from "./embedded-environment.ts";
import { openTargetEnvironment } from "./target-environment.ts";

/** What load is sent to, until it is closed. */
export type OpenEnvironment = LoadEnvironment & { readonly close: () => Promise<void> };

/**
 * Nothing is started or sent yet.
 *
 * @param target `null`: the embedded server, with faults and variants applied
 * @param used see {@link openTargetEnvironment}; the embedded server makes fresh keys for every trial
 */
export const openEnvironment = (
  target: Target | null,
  patches: readonly Patch[],
  used: ReadonlyMap<string, number>,
): OpenEnvironment =>
  target === null
    ? openEmbeddedEnvironment(patches.map(({ kind, name }) => ({ kind, name })))
    : openTargetEnvironment(target, used);
