/** Seed of the generated requests if the user chose none. It is fixed, so that every run sends the same requests. */
export const defaultCoverageSeed = 1;

/** Smallest seed that the user may choose. */
export const minCoverageSeed = 1;

/**
 * Returns the seed of the generated requests of a nightly run: its day in UTC, such as 20300205. Each night sends other
 * requests, and a run with its day as the seed sends them again.
 */
export const coverageSeedOfNight = (started: Date): number =>
  Number(started.toISOString().slice(0, 10).replaceAll("-", ""));
