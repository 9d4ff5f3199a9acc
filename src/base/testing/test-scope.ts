import { spawnSync } from "node:child_process";

/**
 * Three environment variables say how much the tests try.
 *
 * - `CONFORMANCE_TESTS=full`: everything. `CONFORMANCE_TESTS=trials`: everything that a quick run only samples, such as
 * each fault and variant by itself.
 * - `CONFORMANCE_SEED=N`: the seed for cases of property tests and for samples; a whole number, 1 by default.
 * - `CONFORMANCE_RUNS=N`: number of cases of property tests that do not set a number of their own.
 */
const environment = process.env;

export const isFull = environment["CONFORMANCE_TESTS"] === "full";

/** Whether to try everything that a quick run only samples, such as each fault and variant by itself. */
export const triesEveryCase = isFull || environment["CONFORMANCE_TESTS"] === "trials";

export const testSeed = wholeNumber("CONFORMANCE_SEED") ?? 1;

/** Number of cases of a property test: few in a quick run, many in a full one. */
export const runsOf = (runs: { readonly quick: number; readonly full: number }): number =>
  wholeNumber("CONFORMANCE_RUNS") ?? (isFull ? runs.full : runs.quick);

/**
 * Returns the items to test: all items in a full run and for trials, every `of`-th item in a quick run. The seed
 * decides where it begins.
 */
export const sampleOf = <T>(all: readonly T[], { of }: { readonly of: number }): readonly T[] =>
  triesEveryCase ? all : all.filter((_, at) => at % of === testSeed % of);

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

export const hasOpenssl = (): boolean => isHere("openssl", "version");

export const hasPython = (): boolean => isHere("python3", "--version");
