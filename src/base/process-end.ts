import { setImmediate } from "node:timers/promises";

export const exitCodes = {
  /** No must clause is broken, apart from failures that the baseline lists. */
  fine: 0,
  /**
   * A must clause is broken, or the baseline is outdated. `--strict` also counts warnings, and `--complete` counts
   * unexercised must clauses.
   */
  broken: 1,
  usage: 2,
  /** The target could not be reached, or no check was exercised. */
  nothingExercised: 3,
  /** The harness itself failed, or an output could not be written. */
  harnessFailed: 4,
  interrupted: 130,
} as const;

/** The exit codes, highest priority first. For example, a broken clause outweighs a failure of the harness. */
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

/** Waits two event-loop turns. Node needs them to handle a signal that arrived while code was running. */
export async function handlePendingSignals(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
