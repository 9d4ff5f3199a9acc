/** Exit codes of every command. */
export const exitCodes = {
  /** No clause is broken: the verdict is conformant or partial. */
  fine: 0,
  /** A `must` is broken, or the baseline is stale. With `--strict` also a warning, with `--complete` also a `must` that was not exercised. */
  broken: 1,
  usage: 2,
  /** The target could not be reached, or nothing was exercised. */
  nothingExercised: 3,
  harnessFailed: 4,
  interrupted: 130,
} as const;
