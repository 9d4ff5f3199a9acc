import { decisiveExitCode, exitCodes } from "./exit-codes.ts";
import { printText } from "./print-line.ts";

/** Whether an output of this command, such as a file, could not be written. */
let hasUnwrittenOutput = false;

/** Forgets outputs that an earlier command of this process could not write. Called when a command starts. */
export const forgetUnwrittenOutputs = (): void => void (hasUnwrittenOutput = false);

/** Prints that an output could not be written. The command goes on, but its exit code will not be 0. */
export function reportUnwrittenOutput(sentence: string): void {
  printText(sentence);
  recordUnwrittenOutput();
}

/**
 * Records that an output could not be written, without printing that. Also changes an exit code that is already set,
 * because a stream may fail at the very end.
 */
export function recordUnwrittenOutput(): void {
  hasUnwrittenOutput = true;
  if (process.exitCode !== undefined) process.exitCode = exitCodeWithUnwrittenOutputs(Number(process.exitCode));
}

/** Returns the final exit code of a command: 4 if an output was lost, unless `code` has precedence (see `decisiveExitCode`). */
export const exitCodeWithUnwrittenOutputs = (code: number): number =>
  hasUnwrittenOutput ? decisiveExitCode([code, exitCodes.harnessFailed]) : code;
