import { spawnSync } from "node:child_process";

/**
 * How thorough the tests are, and their random seed, from the environment.
 *
 * - `CONFORMANCE_TESTS=full`: everything, without shortcuts. `trials`: each fault and variant by itself, and all that a quick run samples.
 * - `CONFORMANCE_SEED=N`: other cases of properties, and other samples; a whole number, 1 by default.
 * - `CONFORMANCE_RUNS=N`: number of cases of each property that takes its number from here.
 */
const environment = process.env;

export const isFull = environment["CONFORMANCE_TESTS"] === "full";

/** Whether the selftest tries each fault and variant by itself, and whether slow tests run that a quick run leaves out. */
export const triesEach = isFull || environment["CONFORMANCE_TESTS"] === "trials";

export const testSeed = wholeNumber("CONFORMANCE_SEED") ?? 1;

/** Number of cases of a property: few in a quick run, many in a full one. */
export const runsOf = (runs: { readonly quick: number; readonly full: number }): number =>
  wholeNumber("CONFORMANCE_RUNS") ?? (isFull ? runs.full : runs.quick);

/** Samples a list: everything in a full run and in trials; every `of`-th item in a quick run, starting at a place that the seed chooses. */
export const sampleOf = <T>(all: readonly T[], { of }: { readonly of: number }): readonly T[] =>
  triesEach ? all : all.filter((_, at) => at % of === testSeed % of);

function wholeNumber(name: string): number | null {
  const text = environment[name];
  if (text === undefined || text === "") return null;
  if (!/^\d{1,9}$/.test(text))
    throw new Error(`${name} is ${JSON.stringify(text)}: set a whole number of at most nine digits.`);
  return Number(text);
}

/** Whether a command is on PATH and runs. Its arguments must do nothing, such as `--version`. */
const isHere = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

export const hasOpenssl = (): boolean => isHere("openssl", "version");

export const hasPython = (): boolean => isHere("python3", "--version");
