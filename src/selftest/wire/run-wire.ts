import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";

import { startWorker } from "../../base/spawn-module.ts";
import { drawMutant } from "./mutant.ts";
import { type Profile, takeProfile } from "./profile.ts";
import type { WireTrial } from "./trial.ts";

export interface WorkerData {
  readonly seed: number;
  readonly profile: Profile;
}

/**
 * Asks a worker thread to try a mutant, by the mutant's number. Threads cannot receive mutants, because mutants contain
 * functions.
 */
export interface MutantRequest {
  readonly number: number;
}

export type MutantResult = MutantRequest & Omit<WireTrial, "mutant">;

export interface WireSelection {
  readonly seed: number;
  readonly numbers: readonly number[];
}

/** Number of trials that each thread runs at once. A trial spends part of its time waiting. */
const trialsPerThread = 2;

/** Tries a seed's mutants in worker threads, and returns the trials in order. */
export async function runWire(
  { seed, numbers }: WireSelection,
  onTrial: (trial: WireTrial) => void = () => {},
): Promise<WireTrial[]> {
  const profile = await takeProfile();
  const waiting = numbers[Symbol.iterator]();
  const trials: WireTrial[] = [];
  const work = async (): Promise<void> => {
    const worker = startWorker(import.meta.url, "wire-worker", { workerData: { seed, profile } satisfies WorkerData });
    worker.setMaxListeners(2 * trialsPerThread + 2);
    const lane = async (): Promise<void> => {
      for (const number of waiting) {
        const { number: _, ...result } = await askWorker(worker, number);
        const trial = { mutant: drawMutant(seed, number), ...result };
        trials.push(trial);
        onTrial(trial);
      }
    };
    try {
      await Promise.all(Array.from({ length: trialsPerThread }, lane));
    } finally {
      await worker.terminate();
    }
  };
  const threads = Math.min(availableParallelism(), Math.ceil(numbers.length / trialsPerThread));
  await Promise.all(Array.from({ length: threads }, work));
  return trials.toSorted((one, other) => one.mutant.number - other.mutant.number);
}

function askWorker(worker: Worker, number: number): Promise<MutantResult> {
  return new Promise((resolve, reject) => {
    const done = (result: MutantResult): void => {
      if (result.number !== number) return;
      worker.off("message", done);
      worker.off("error", reject);
      resolve(result);
    };
    worker.on("message", done);
    worker.once("error", reject);
    worker.postMessage({ number } satisfies MutantRequest);
  });
}
