import { decisiveExitCode, exitCodes } from "./exit-codes.ts";
import { printText } from "./print-line.ts";

/** Whether an output of the command could not be written. */
let hasLost = false;

/** Forgets the losses of an earlier command. */
export const forgetLosses = (): void => void (hasLost = false);

/** Prints that an output could not be written. The command goes on, and its exit code is not 0. */
export function reportLoss(sentence: string): void {
  printText(sentence);
  noteLoss();
}

/**
 * Notes that an output could not be written; the caller has printed this. A stream may fail after the command has
 * ended, so an exit code that is already set is changed as well.
 */
export function noteLoss(): void {
  hasLost = true;
  if (process.exitCode !== undefined) process.exitCode = withLosses(Number(process.exitCode));
}

/**
 * Returns the exit code of a command. The code is 4 if an output was lost, unless `code` has precedence (see
 * `decisiveExitCode`).
 */
export const withLosses = (code: number): number =>
  hasLost ? decisiveExitCode([code, exitCodes.harnessFailed]) : code;
