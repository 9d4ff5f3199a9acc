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

/** Counts a loss that was printed. It may come after the end of the command, from a stream that is still written. */
export function noteLoss(): void {
  hasLost = true;
  if (process.exitCode !== undefined) process.exitCode = withLosses(Number(process.exitCode));
}

/** Returns the exit code of a command: raised to 4 if an output was lost and no code of higher rank applies. */
export const withLosses = (code: number): number =>
  hasLost ? decisiveExitCode([code, exitCodes.harnessFailed]) : code;
