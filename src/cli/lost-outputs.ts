import { decisiveExitCode, exitCodes } from "./exit-codes.ts";
import { printText } from "./print-line.ts";

/** Whether an output of this command, such as a file, could not be written. */
let hasLostOutput = false;

/** Forgets outputs that an earlier command of this process could not write. Called when a command starts. */
export const forgetLostOutputs = (): void => void (hasLostOutput = false);

/** Prints that an output could not be written. The command goes on, but its exit code will not be 0. */
export function reportLostOutput(sentence: string): void {
  printText(sentence);
  recordLostOutput();
}

/**
 * Records that an output could not be written, without printing that. Also changes an exit code that is already set,
 * because a stream may fail at the very end.
 */
export function recordLostOutput(): void {
  hasLostOutput = true;
  if (process.exitCode !== undefined) process.exitCode = exitCodeWithLostOutputs(Number(process.exitCode));
}

/** Returns the final exit code of a command: 4 if an output was lost, unless `code` has precedence (see `decisiveExitCode`). */
export const exitCodeWithLostOutputs = (code: number): number =>
  hasLostOutput ? decisiveExitCode([code, exitCodes.harnessFailed]) : code;
