/** Seed of the generated requests of a run for which no seed was chosen, so that runs repeat. */
export const defaultCoverageSeed = 1;

/** Smallest seed. */
export const minCoverageSeed = 1;

/**
 * Seed of the generated requests of a night: its day in UTC, such as 20300205. Each night sends other requests, and its
 * date repeats them.
 */
export const coverageSeedOfNight = (started: Date): number =>
  Number(started.toISOString().slice(0, 10).replaceAll("-", ""));
