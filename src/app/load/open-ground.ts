import type { Ground } from "../../load/conduct.ts";
import type { Patch } from "../../reference/patch.ts";
import type { Target } from "../../target/target.ts";
import { openEmbeddedGround } from "./embedded-ground.ts";
import { openTargetGround } from "./target-ground.ts";

/** What load is sent to, until it is closed. */
export type OpenGround = Ground & { readonly close: () => Promise<void> };

/** @param target `null`: the embedded server, with faults and variants applied. Nothing is started or sent yet. */
export const openGround = (target: Target | null, patches: readonly Patch[]): OpenGround =>
  target === null ? openEmbeddedGround(patches.map(({ kind, name }) => ({ kind, name }))) : openTargetGround(target);
