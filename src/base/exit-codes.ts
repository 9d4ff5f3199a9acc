export const exitCodes = {
  /** No clause is broken. The verdict is conformant or partial. */
  fine: 0,
  /** A must clause is broken, or the baseline is outdated. `--complete` and `--strict` add further reasons. */
  broken: 1,
  usage: 2,
  /** The target could not be reached, or no check was exercised. */
  nothingExercised: 3,
  /** The harness itself failed, or an output could not be written. */
  harnessFailed: 4,
  interrupted: 130,
} as const;

/** The exit codes, highest priority first. A broken clause counts even if something else failed. */
const byPriority = [
  exitCodes.interrupted,
  exitCodes.usage,
  exitCodes.broken,
  exitCodes.nothingExercised,
  exitCodes.harnessFailed,
];

/** Returns the exit code with the highest priority; 0 if there are none. */
export const decisiveExitCode = <Code extends number>(codes: readonly Code[]): Code | 0 =>
  byPriority.flatMap((code) => codes.filter((each) => each === code))[0] ?? exitCodes.fine;
