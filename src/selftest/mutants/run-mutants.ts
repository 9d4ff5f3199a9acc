import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

import { moduleBeside } from "../../base/module-beside.ts";
import type { CleanRun } from "./clean-run.ts";
import { cleanRunWith } from "./clean-runs.ts";
import { benchOf, type MutantTrial, tryMutant } from "./judging.ts";
import { mutantsOf } from "./operators/all.ts";
import { drawn } from "./sample.ts";
import { type Source, sources, variantsOf } from "./sources.ts";

/** Which mutants are tried: all, or so many of them, drawn by the seed. */
export interface MutantsAsked {
  /** `null`: all. */
  readonly sample: number | null;
  readonly seed: number;
}

/** What a worker has to do: one share of a clean run's mutants. */
export interface MutantsShare extends MutantsAsked {
  readonly run: CleanRun;
  readonly share: number;
  readonly of: number;
}

/** Runs every source, and tries its mutants in worker threads, a share on each core. */
export async function runMutants({ sample, seed }: MutantsAsked): Promise<MutantTrial[]> {
  const of = Math.max(1, availableParallelism());
  const trials: MutantTrial[] = [];
  // The last is the largest: it has what the others leave of the sample.
  for (const [at, source] of sources.entries()) {
    const run = await cleanRunWith(source.name, variantsOf(source));
    const ofThis = sample === null ? null : Math.ceil((sample - trials.length) / (sources.length - at));
    const shares = Array.from({ length: of }, (_, share) => inWorker({ run, sample: ofThis, seed, share, of }));
    trials.push(...(await Promise.all(shares)).flat());
  }
  return trials;
}

async function inWorker(share: MutantsShare): Promise<MutantTrial[]> {
  const worker = new Worker(moduleBeside(import.meta.url, "mutants-worker"), { workerData: share });
  try {
    return await new Promise<MutantTrial[]>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  } finally {
    await worker.terminate();
  }
}

/** Of so many wrong mutants, one is judged by every check that it concerns, to see what else turns red. */
const oneWhole = 20;

/** Tries the mutants of a clean run, or one share of them. */
export function tryMutants({ run, sample, seed, share, of }: MutantsShare): MutantTrial[] {
  const source = sources.find(({ name }) => name === run.source);
  const bench = benchOf(run);
  return askedOf(run, source, { sample, seed })
    .filter((_, at) => at % of === share)
    .map((mutant, at) => tryMutant(bench, mutant, mutant.kind === "legal" || at % oneWhole === 0));
}

function askedOf(run: CleanRun, source: Source | undefined, { sample, seed }: MutantsAsked) {
  const all = mutantsOf(run).filter((mutant) => source === undefined || source.isNew(mutant));
  return sample === null ? all : drawn(all, sample, seed);
}
