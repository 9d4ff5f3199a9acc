import { decisiveExitCode, exitCodes } from "./exit-codes.ts";
import { printText } from "./print-line.ts";

/** Whether some output of the command could not be written. */
let hasLost = false;

/** Resets the record of lost outputs. Called when a new command starts. */
export const forgetLosses = (): void => void (hasLost = false);

/** Prints that an output could not be written. The command goes on, but its exit code will not be 0. */
export function reportLoss(sentence: string): void {
  printText(sentence);
  noteLoss();
}

/**
 * Records that an output could not be written. The caller has printed this already. Changes an exit code that is already set, because a
 * stream may fail after the command has ended.
 */
export function noteLoss(): void {
  hasLost = true;
  if (process.exitCode !== undefined) process.exitCode = withLosses(Number(process.exitCode));
}

/** Returns the final exit code of a command: 4 if an output was lost, unless `code` has precedence (see `decisiveExitCode`). */
export const withLosses = (code: number): number =>
  hasLost ? decisiveExitCode([code, exitCodes.harnessFailed]) : code;
