import { parentPort } from "node:worker_threads";

import type { Patch } from "../reference/patch.ts";
import { findPatch } from "../reference/catalogue.ts";
import { type Extent, judging, scopeOf } from "./scope.ts";
import { combinePatches } from "./patch-groups.ts";
import { type PatchTrial, tryPatch } from "./trial.ts";

const port = parentPort;
if (port === null) throw new Error("the selftest worker is started by the selftest only");

interface Asked {
  readonly group: readonly Pick<Patch, "kind" | "name">[];
  readonly extent: Extent;
  readonly clauses: readonly string[] | null;
}

port.on("message", (asked: Asked) => {
  void answer(asked);
});

async function answer({ group, extent, clauses }: Asked): Promise<void> {
  const patch = combinePatches(group.map(found));
  const tryIn = (within: Extent): Promise<PatchTrial> => {
    const scope = scopeOf(patch, within);
    return tryPatch(patch, clauses === null ? scope : judging(clauses, scope));
  };
  const trial = await tryIn(extent);
  // What is sent for other sections may be what shows it.
  const isShown = patch.breaks.every((clause) => trial.red.includes(clause));
  port?.postMessage(extent === "own" && !isShown ? await tryIn("short") : trial);
}

function found({ kind, name }: Pick<Patch, "kind" | "name">): Patch {
  const patch = findPatch(kind, name);
  if (patch === undefined) throw new Error(`there is no ${kind} ${name}`);
  return patch;
}
