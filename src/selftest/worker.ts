import { parentPort } from "node:worker_threads";

import type { Patch } from "../reference/patch.ts";
import { findPatch } from "../reference/patches.ts";
import { type Extent, scopeOf } from "./scope.ts";
import { tryPatch } from "./trial.ts";

const port = parentPort;
if (port === null) throw new Error("the selftest worker is started by the selftest only");

port.on("message", ({ kind, name, extent }: Pick<Patch, "kind" | "name"> & { readonly extent: Extent }) => {
  void answer(kind, name, extent);
});

async function answer(kind: Patch["kind"], name: string, extent: Extent): Promise<void> {
  const patch = findPatch(kind, name);
  if (patch === undefined) throw new Error(`there is no ${kind} ${name}`);
  port?.postMessage(await tryPatch(patch, scopeOf(patch, extent)));
}
