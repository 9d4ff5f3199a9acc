import { setImmediate } from "node:timers/promises";

export const exitCodes = {
  /** No must clause is broken, apart from the known failures that the baseline file lists. */
  fine: 0,
  /**
   * A must clause is broken, or the baseline file lists a failure that no longer occurs. `--strict` also counts
   * warnings, and `--complete` counts unexercised must clauses.
   */
  broken: 1,
  usage: 2,
  /**
   * No check was exercised, or `--only` names a must or should clause that was not exercised. Also used if the target
   * could not be reached, or the run could not finish.
   */
  nothingExercised: 3,
  /** The harness itself failed, or an output could not be written. */
  harnessFailed: 4,
  interrupted: 130,
} as const;

/** All exit codes except 0, highest priority first. A broken clause outweighs a failure of the harness, for example. */
const byPriority = [
  exitCodes.interrupted,
  exitCodes.usage,
  exitCodes.broken,
  exitCodes.nothingExercised,
  exitCodes.harnessFailed,
];

/** Returns the exit code with the highest priority; 0 for an empty list. */
export const decisiveExitCode = <Code extends number>(codes: readonly Code[]): Code | 0 =>
  byPriority.flatMap((code) => codes.filter((each) => each === code))[0] ?? exitCodes.fine;

/** Waits two event-loop turns. Node needs them to handle a signal that arrived while code was running. */
export async function handlePendingSignals(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
