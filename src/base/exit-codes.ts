/** The exit codes of all commands. */
export const exitCodes = {
  /** No clause is broken: the verdict is conformant or partial. */
  fine: 0,
  /**
   * A `must` is broken, or the baseline is stale. With `--strict` also a warning, with `--complete` an untested `must`.
   */
  broken: 1,
  usage: 2,
  /** The target could not be reached, or nothing was exercised. */
  nothingExercised: 3,
  /** The harness itself failed, or an output could not be written. */
  harnessFailed: 4,
  interrupted: 130,
} as const;

/** The codes by priority. A broken clause comes early, because it is proven whatever else failed. */
const byPriority = [
  exitCodes.interrupted,
  exitCodes.usage,
  exitCodes.broken,
  exitCodes.nothingExercised,
  exitCodes.harnessFailed,
];

/** Returns the exit code of a command to which all of these codes apply; 0 if there are none. */
export const decisiveExitCode = <Code extends number>(codes: readonly Code[]): Code | 0 =>
  byPriority.flatMap((code) => codes.filter((each) => each === code))[0] ?? exitCodes.fine;
