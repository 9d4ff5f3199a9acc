import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

import type { Patch } from "../reference/patch.ts";
import type { Extent } from "./scope.ts";
import type { PatchTrial } from "./trial.ts";

/** A trial waits as long as it works, for deliveries that must not come: so many of them share a core. */
const trialsPerCore = 2;

/** Tries each patch in worker threads. In the order of the patches. */
export async function tryPatches(
  patches: readonly Patch[],
  extent: Extent,
  onTrial: (trial: PatchTrial) => void = () => {},
): Promise<PatchTrial[]> {
  const trials = new Map<Patch, PatchTrial>();
  const waiting = patches[Symbol.iterator]();
  const work = async (): Promise<void> => {
    const worker = new Worker(
      new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url),
    );
    try {
      for (const patch of waiting) {
        const trial = await ask(worker, patch, extent);
        trials.set(patch, trial);
        onTrial(trial);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(trialsPerCore * availableParallelism(), patches.length) }, work));
  return patches.flatMap((patch) => trials.get(patch) ?? []);
}

function ask(worker: Worker, { kind, name }: Patch, extent: Extent): Promise<PatchTrial> {
  return new Promise((resolve, reject) => {
    const done = (trial: PatchTrial): void => {
      worker.off("error", reject);
      resolve(trial);
    };
    worker.once("message", done);
    worker.once("error", reject);
    worker.postMessage({ kind, name, extent });
  });
}
