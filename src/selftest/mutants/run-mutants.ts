import { availableParallelism } from "node:os";
import { startWorker } from "../../base/spawn-module.ts";
import { seededNumbers, shuffled } from "../../base/statistics/random.ts";
import { allVariants } from "../../reference/catalogue.ts";
import type { Patch } from "../../reference/patch.ts";
import type { CleanRun } from "./clean-run.ts";
import { cleanRunWith } from "./clean-runs.ts";
import { type MutantTrial, judgeCleanRun, tryLegal, tryMutant } from "./judging.ts";
import type { Mutant } from "./mutant.ts";
import { mutantsOf } from "./operators/all.ts";

/** Which mutants are tried: all, or so many of them, drawn by the seed. */
export interface MutantSelection {
  /** `null`: all. */
  readonly sample: number | null;
  readonly seed: number;
}

/** What a worker has to do: one share of the mutants of clean runs. */
export interface MutantsShare extends MutantSelection {
  readonly runs: readonly CleanRun[];
  readonly share: number;
  readonly of: number;
}

/** Runs every source, side by side as a run waits for much, and tries their mutants in worker threads, a share on each core. */
export async function runMutants(asked: MutantSelection): Promise<MutantTrial[]> {
  const runs = await Promise.all(sources.map((source) => cleanRunWith(source.name, variantsOf(source))));
  const of = Math.max(1, availableParallelism());
  const shares = Array.from({ length: of }, (_, share) => inWorker({ ...asked, runs, share, of }));
  return (await Promise.all(shares)).flat();
}

async function inWorker(share: MutantsShare): Promise<MutantTrial[]> {
  const worker = startWorker(import.meta.url, "mutants-worker", { workerData: share });
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

/** Tries the mutants of clean runs, or one share of them. */
export function tryMutants({ runs, sample, seed, share, of }: MutantsShare): MutantTrial[] {
  let left = sample;
  return runs.flatMap((run, at) => {
    // The last is the largest: it has what the others leave of the sample.
    const most = left === null ? null : Math.ceil(left / (runs.length - at));
    const asked = askedOf(run, { sample: most, seed });
    if (left !== null) left -= asked.length;
    const bench = judgeCleanRun(run);
    const own = asked.filter((_, place) => place % of === share);
    return [
      ...own
        .filter(({ kind }) => kind === "wrong")
        .map((each, place) => tryMutant(bench, each, place % oneWhole === 0)),
      ...tryLegal(
        bench,
        own.filter(({ kind }) => kind === "legal"),
      ),
    ];
  });
}

function askedOf(run: CleanRun, { sample, seed }: MutantSelection): readonly Mutant[] {
  const source = sources.find(({ name }) => name === run.source);
  const all = mutantsOf(run).filter((mutant) => source === undefined || source.isNew(mutant));
  return sample === null ? all : drawSample(all, sample, seed);
}

/** A server whose clean run mutants are made of. */
export interface Source {
  readonly name: string;
  /** Variants of the reference server that it has. */
  readonly variants: readonly string[];
  /** Whether a mutant shows something that the plain reference server does not. */
  readonly isNew: (mutant: Mutant) => boolean;
}

/** Mutants of fields, bodies and the rate-limit header that those variants change. */
const ofErrors = ({ place, subject }: Mutant): boolean =>
  / (4\d\d|500)/.test(place) && /^(error|status|the body|X-RateLimit-Limit)/.test(subject);

const ofEnvelopes = ({ place, subject }: Mutant): boolean =>
  /^(list|usage|keyUsage|batch|other paths) 20\d/.test(place) && !/^(X-|Content-Type|headers)/.test(subject);

/** The largest last. */
export const sources: readonly Source[] = [
  {
    name: "form B",
    variants: ["form-b", "headers-of-minute", "code-rate-limited", "index-from-1"],
    isNew: ofErrors,
  },
  {
    name: "envelopes",
    variants: [
      "list-envelope",
      "usage-envelope-result",
      "key-usage-envelope",
      "metrics-in-envelope",
      "handle-envelope",
    ],
    isNew: ofEnvelopes,
  },
  { name: "reference", variants: [], isNew: () => true },
];

export const variantsOf = ({ variants }: Source): Patch[] =>
  variants.map((name) => {
    const found = allVariants.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no variant ${name}`);
    return found;
  });

/** Draws so many of the items by a seed, in their order; all where there are no more. The same seed draws the same places. */
export function drawSample<T>(items: readonly T[], most: number, seed: number): readonly T[] {
  if (items.length <= most) return items;
  const chosen = new Set(shuffled([...items.keys()], seededNumbers(seed)).slice(0, most));
  return items.filter((_, at) => chosen.has(at));
}
