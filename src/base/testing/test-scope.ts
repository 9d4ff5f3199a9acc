/**
 * How thorough the tests are, and by which seed they draw: from the environment, for every test alike.
 *
 * - `CONFORMANCE_TESTS=full`: everything without shortcuts. `trials`: of that, each fault and variant by itself, and all that is sampled.
 * - `CONFORMANCE_SEED=N`: other properties' cases, other samples; a whole number, 1 where it is not set.
 * - `CONFORMANCE_RUNS=N`: so many cases of each property whose number of runs is stated here.
 */
const environment = process.env;

export const isFull = environment["CONFORMANCE_TESTS"] === "full";

/** Whether the selftest tries each fault and variant by itself, and what a quick run leaves out for its time alone is tried. */
export const triesEach = isFull || environment["CONFORMANCE_TESTS"] === "trials";

export const testSeed = wholeNumber("CONFORMANCE_SEED") ?? 1;

/** Runs of a property: few in a quick run, many in a full one. */
export const runsOf = (runs: { readonly quick: number; readonly full: number }): number =>
  wholeNumber("CONFORMANCE_RUNS") ?? (isFull ? runs.full : runs.quick);

/** All in a full run and in trials; in a quick one every `of`-th, from a place that the seed chooses: another seed asks others. */
export const sampleOf = <T>(all: readonly T[], { of }: { readonly of: number }): readonly T[] =>
  triesEach ? all : all.filter((_, at) => at % of === testSeed % of);

function wholeNumber(name: string): number | null {
  const text = environment[name];
  if (text === undefined || text === "") return null;
  if (!/^\d{1,9}$/.test(text))
    throw new Error(`${name} is ${JSON.stringify(text)}: set a whole number of at most nine digits.`);
  return Number(text);
}
