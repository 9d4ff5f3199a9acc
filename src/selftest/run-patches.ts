import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";

import { startWorker } from "../base/spawn-module.ts";
import type { Patch } from "../reference/patch.ts";
import { affectsLimits, type TrialExtent } from "./scope.ts";
import type { PatchTrial } from "./trial.ts";

/** Number of trials that each core runs at the same time. A trial spends most of its time waiting. */
const trialsPerCore = 4;

export const tryPatches = (
  patches: readonly Patch[],
  extent: TrialExtent,
  onTrial: (trial: PatchTrial) => void = () => {},
): Promise<PatchTrial[]> =>
  tryGroups(
    patches.map((patch) => [patch]),
    extent,
    { onTrial },
  );

export async function tryGroups(
  groups: readonly (readonly Patch[])[],
  extent: TrialExtent | ((group: readonly Patch[]) => TrialExtent),
  {
    clauses = null,
    onTrial = () => {},
  }: { readonly clauses?: readonly string[] | null; readonly onTrial?: (trial: PatchTrial) => void } = {},
): Promise<PatchTrial[]> {
  const extentOf = typeof extent === "function" ? extent : (): TrialExtent => extent;
  const trials = new Map<readonly Patch[], PatchTrial>();
  const waiting = longestFirst(groups)[Symbol.iterator]();
  const work = async (): Promise<void> => {
    const worker = startWorker(import.meta.url, "trial-worker");
    try {
      for (const group of waiting) {
        const trial = await askWorker(worker, { group, extent: extentOf(group), clauses });
        trials.set(group, trial);
        onTrial(trial);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(trialsPerCore * availableParallelism(), groups.length) }, work));
  return groups.flatMap((group) => trials.get(group) ?? []);
}

/** Puts trials about limits first, because they take longest and would run alone at the end. */
const longestFirst = (groups: readonly (readonly Patch[])[]): readonly (readonly Patch[])[] =>
  groups.toSorted((one, other) => Number(other.some(affectsLimits)) - Number(one.some(affectsLimits)));

interface TrialRequest {
  readonly group: readonly Patch[];
  readonly extent: TrialExtent;
  readonly clauses: readonly string[] | null;
}

function askWorker(worker: Worker, { group, ...how }: TrialRequest): Promise<PatchTrial> {
  return new Promise((resolve, reject) => {
    const done = (trial: PatchTrial): void => {
      worker.off("error", reject);
      resolve(trial);
    };
    worker.once("message", done);
    worker.once("error", reject);
    worker.postMessage({ ...how, group: group.map(({ kind, name }) => ({ kind, name })) });
  });
}
