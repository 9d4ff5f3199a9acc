/** Exit codes of every command. */
export const exitCodes = {
  /** Conformant, or partial: nothing broken. */
  fine: 0,
  /** A `must` is broken, a baseline is stale, `--strict` met a warning, or `--complete` met a must clause not exercised. */
  broken: 1,
  usage: 2,
  /** The target could not be reached, or nothing was exercised. */
  nothingExercised: 3,
  harnessFailed: 4,
  interrupted: 130,
} as const;
