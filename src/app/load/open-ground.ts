import type { Ground } from "../../load/conduct.ts";
import type { Patch } from "../../reference/patch.ts";
import type { Target } from "../../target/target.ts";
import { openEmbeddedGround } from "./embedded-ground.ts";
import { openTargetGround } from "./target-ground.ts";

/** What load is sent to, until it is closed. */
export type OpenGround = Ground & { readonly close: () => Promise<void> };

/**
 * Nothing is started or sent yet.
 *
 * @param target `null`: the embedded server, with faults and variants applied
 * @param used see {@link openTargetGround}; the embedded server makes fresh keys for every trial
 */
export const openGround = (
  target: Target | null,
  patches: readonly Patch[],
  used: ReadonlyMap<string, number>,
): OpenGround =>
  target === null
    ? openEmbeddedGround(patches.map(({ kind, name }) => ({ kind, name })))
    : openTargetGround(target, used);
