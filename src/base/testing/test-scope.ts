import { spawnSync } from "node:child_process";

/**
 * Three environment variables say how much the tests try.
 *
 * - `CONFORMANCE_TESTS=full`: everything. `CONFORMANCE_TESTS=trials`: each fault, and more of all that a quick run only
 * samples.
 * - `CONFORMANCE_SEED=N`: the seed for cases of property tests and for samples; a whole number, 1 by default.
 * - `CONFORMANCE_RUNS=N`: number of cases of property tests that do not set a number of their own.
 */
const environment = process.env;

export const isFull = environment["CONFORMANCE_TESTS"] === "full";

/** Whether to try each fault. */
export const triesEveryFault = isFull || environment["CONFORMANCE_TESTS"] === "trials";

export const testSeed = wholeNumber("CONFORMANCE_SEED") ?? 1;

/** Number of cases of a property test: few in a quick run, many in a full one. */
export const runsOf = (runs: { readonly quick: number; readonly full: number }): number =>
  wholeNumber("CONFORMANCE_RUNS") ?? (isFull ? runs.full : runs.quick);

/** Trials try at least every third item of what a quick run samples. */
const maxTrialStep = 3;

/**
 * Returns the items to test: all in a full run, otherwise every `of`-th. The seed decides where this begins. Trials
 * skip fewer items than a quick run.
 */
export function sampleOf<T>(all: readonly T[], { of }: { readonly of: number }): readonly T[] {
  if (isFull) return all;
  const step = triesEveryFault ? Math.min(of, maxTrialStep) : of;
  return all.filter((_, at) => at % step === testSeed % step);
}

/** Returns a sample for trials; nothing in a quick run. */
export const trialSampleOf = <T>(all: readonly T[]): readonly T[] =>
  triesEveryFault ? sampleOf(all, { of: maxTrialStep }) : [];

function wholeNumber(name: string): number | null {
  const text = environment[name];
  if (text === undefined || text === "") return null;
  if (!/^\d{1,9}$/.test(text))
    throw new Error(`${name} is ${JSON.stringify(text)}: set a whole number of at most nine digits.`);
  return Number(text);
}

/** Whether a command is on PATH and can be run. Its arguments must have no effect, such as `--version`. */
const isHere = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

export const hasGo = (): boolean => isHere("go", "version");

export const hasOpenssl = (): boolean => isHere("openssl", "version");

export const hasPython = (): boolean => isHere("python3", "--version");
