import { decisiveExitCode, exitCodes } from "../base/exit-codes.ts";
import { withInvocation } from "./invocation.ts";
import { redactSecrets } from "./errors.ts";
import { fromOutside, joinLines, type Line } from "../base/line.ts";

/** Prints a message on standard error, without secrets. The type {@link Line} excludes control characters. */
export const printLine = (text: Line): void => void process.stderr.write(`${withInvocation(redactSecrets(text))}\n`);

/** Prints several messages, each on a line of its own. */
export const printLines = (texts: readonly Line[]): void => {
  if (texts.length > 0) printLine(joinLines(texts, "\n"));
};

/** Prints lines that may come from another program, such as k6. Removes control characters. */
export const printText = (text: string): void => printLines(text.split("\n").map(fromOutside));

/** Whether an output of this command, such as a file, could not be written. */
let hasUnwrittenOutput = false;

/** Forgets outputs that an earlier command of this process could not write. Called when a command starts. */
export const forgetUnwrittenOutputs = (): void => void (hasUnwrittenOutput = false);

/** Prints that an output could not be written. The command goes on, but its exit code will not be 0. */
export function reportUnwrittenOutput(sentence: string): void {
  printText(sentence);
  recordUnwrittenOutput();
}

/** Records that an output could not be written. If the exit code is already set, adjusts it. */
export function recordUnwrittenOutput(): void {
  hasUnwrittenOutput = true;
  if (process.exitCode !== undefined) process.exitCode = exitCodeWithUnwrittenOutputs(Number(process.exitCode));
}

/** Returns the final exit code of a command: 4 if an output was lost, unless `code` has precedence. */
export const exitCodeWithUnwrittenOutputs = (code: number): number =>
  hasUnwrittenOutput ? decisiveExitCode([code, exitCodes.harnessFailed]) : code;
