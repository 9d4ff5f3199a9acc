import { getOrAdd } from "../../base/memoize.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Judgement } from "../../run/judge/judge-evidence.ts";
import type { RunResult } from "../../run/run-result.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { coreMessages, describeFinding, runUnbounded, shortDeadlines } from "../trial.ts";
import { conditionMatcher } from "./conditions.ts";
import { drawMutant, endpointsOfMutant, type WireMutant } from "./mutant.ts";
import { type SelectedSuites, legalSelectionFor, type RequestProfile, selectionsFor, takeProfile } from "./profile.ts";
import { type ProxyChange, startWireProxy } from "./proxy.ts";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { startWorker } from "../../base/spawn-module.ts";

/**
 * The result of trying a mutant.
 *
 * - `killed`: an illegal mutant makes a must clause fail.
 * - `survived`: an illegal mutant changes responses, but no must clause fails.
 * - `not visited`: an illegal mutant changes no response of the run.
 * - `passed`: a legal mutant makes no must or should clause fail.
 * - `flagged`: a legal mutant makes a must or should clause fail, or causes an error.
 * - `broken`: an illegal mutant causes errors and is not killed, or checks fail even without the mutant.
 */
export type WireMutantStatus = "killed" | "survived" | "not visited" | "passed" | "flagged" | "broken";

export interface WireTrial {
  readonly mutant: WireMutant;
  readonly status: WireMutantStatus;
  readonly changed: number;
  /** Failure texts of checks. For a `broken` illegal mutant: errors, or the checks that fail without the mutant. */
  readonly said: readonly string[];
  readonly runs: number;
  readonly ms: number;
}

interface RunOutcome {
  readonly changed: number;
  /** Failure text of each failed `must` check, by check id. */
  readonly musts: ReadonlyMap<string, string>;
  /** Failure text of each failed `should` check, by check id. */
  readonly shoulds: ReadonlyMap<string, string>;
  readonly errors: readonly string[];
}

/** Tries mutants. If a check fails, runs the same checks without the mutant for comparison. */
export interface MutantTester {
  readonly tryMutant: (mutant: WireMutant) => Promise<WireTrial>;
}

export function mutantTester(profile: RequestProfile): MutantTester {
  const baselines = new Map<string, Promise<RunOutcome>>();
  const baselineOf = (selection: SelectedSuites): Promise<RunOutcome> =>
    getOrAdd(baselines, selection.name, () => runSelection(selection, null));
  return {
    tryMutant: async (mutant) => {
      const startedMs = performance.now();
      const tried = await (mutant.kind === "legal" ? tryLegal : tryIllegal)(mutant, profile, baselineOf);
      return { mutant, ...tried, ms: performance.now() - startedMs };
    },
  };
}

type TriedMutant = Omit<WireTrial, "mutant" | "ms">;
type BaselineOf = (selection: SelectedSuites) => Promise<RunOutcome>;

/** Tries an illegal mutant: runs a few probes first, then more, until a must clause fails. */
async function tryIllegal(mutant: WireMutant, profile: RequestProfile, baselineOf: BaselineOf): Promise<TriedMutant> {
  const instances = probesAffectedBy(mutant, profile);
  let [changed, runs] = [0, 0];
  const errors: string[] = [];
  const selections = instances === null ? [] : selectionsFor(instances, profile);
  for (const selection of selections) {
    const outcome = await runSelection(selection, changeOf(mutant));
    runs += 1;
    changed += outcome.changed;
    if (outcome.errors.length === 0 && outcome.changed > 0 && outcome.musts.size > 0) {
      const before = await baselineOf(selection);
      if (before.musts.size > 0 || before.errors.length > 0)
        return {
          status: "broken",
          changed,
          runs,
          said: [`red without the change: ${[...before.musts.keys(), ...before.errors].join(", ")}`],
        };
      return { status: "killed", changed, runs, said: [...outcome.musts.values()] };
    }
    errors.push(...outcome.errors);
  }
  if (errors.length > 0) return { status: "broken", changed, runs, said: errors };
  return { status: changed === 0 ? "not visited" : "survived", changed, runs, said: [] };
}

async function tryLegal(mutant: WireMutant, profile: RequestProfile, baselineOf: BaselineOf): Promise<TriedMutant> {
  const instances = probesAffectedBy(mutant, profile);
  if (instances === null) return { status: "passed", changed: 0, runs: 0, said: [] };
  const selection = legalSelectionFor(instances, profile);
  const outcome = await runSelection(selection, changeOf(mutant));
  const said = [...outcome.musts.values(), ...outcome.shoulds.values(), ...outcome.errors];
  if (said.length === 0) return { status: "passed", changed: outcome.changed, runs: 1, said };
  const before = await baselineOf(selection);
  const isRedBefore = before.musts.size + before.shoulds.size + before.errors.length > 0;
  return { status: isRedBefore ? "broken" : "flagged", changed: outcome.changed, runs: 1, said };
}

const changeOf = (mutant: WireMutant): ProxyChange => ({
  matches: conditionMatcher(mutant.condition, {
    endpoints: endpointsOfMutant(mutant),
    appliesTo: mutant.mutation.appliesTo,
  }),
  mutation: mutant.mutation,
});

export function probesAffectedBy(mutant: WireMutant, { requests }: RequestProfile): readonly string[] | null {
  const { matches } = changeOf(mutant);
  const chosen = requests.filter(({ traits }) => matches(traits));
  if (chosen.length === 0) return null;
  return [...new Set(chosen.flatMap(({ instance }) => instance ?? []))];
}

async function runSelection(selection: SelectedSuites, change: ProxyChange | null): Promise<RunOutcome> {
  const embedded = await startEmbedded();
  const proxy = await startWireProxy(embedded.target, change);
  try {
    const result = await runUnbounded(proxy.target, selection.suites, { deadlines: shortDeadlines });
    return { changed: proxy.changedCount(), ...redOf(result) };
  } finally {
    await proxy.close();
    await embedded.close();
  }
}

function redOf(result: RunResult): Omit<RunOutcome, "changed"> {
  if (result.kind !== "judged")
    // The run stopped early, for example because every key was refused. A mutant that stops the run counts as noticed.
    return { musts: new Map([["run", coreMessages.reason(result.sentence)]]), shoulds: new Map(), errors: [] };
  const found = (kind: Judgement["finding"]["kind"]) =>
    result.judgements.filter(({ finding }) => finding.kind === kind);
  const redOfLevel = (level: string): Map<string, string> =>
    new Map(
      found("breach")
        .filter(({ check }) => clauseOf(check.clause).level === level)
        .map((each) => [each.check.id, describeFinding(each)]),
    );
  return {
    musts: redOfLevel("must"),
    shoulds: redOfLevel("should"),
    errors: found("error").map(describeFinding),
  };
}

export interface WorkerData {
  readonly seed: number;
  readonly profile: RequestProfile;
}

/**
 * A message that asks a worker thread to try the mutant with this number. Threads cannot receive mutants, because
 * mutants contain functions.
 */
export interface MutantRequest {
  readonly number: number;
}

export type MutantResult = MutantRequest & Omit<WireTrial, "mutant">;

/** Number of trials that each thread runs at once. A trial spends part of its time waiting. */
const trialsPerThread = 2;

/** Tries the mutants with these numbers in worker threads. Returns the trials in the order of the mutants' numbers. */
export async function runWire(
  { seed, numbers }: { readonly seed: number; readonly numbers: readonly number[] },
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
