import { decisiveExitCode, exitCodes } from "../base/process-end.ts";
import { redactSecrets } from "./errors.ts";
import { safeLine, joinLines, type Line } from "../base/line.ts";
import { withInvocation } from "./invocation.ts";

/** Prints a message on standard error, with secrets redacted. The type {@link Line} excludes control characters. */
export const printLine = (text: Line): void => void process.stderr.write(`${withInvocation(redactSecrets(text))}\n`);

export const printLines = (texts: readonly Line[]): void => {
  if (texts.length > 0) printLine(joinLines(texts, "\n"));
};

export const printText = (text: string): void => printLines(text.split("\n").map(safeLine));

let hasUnwrittenOutput = false;

export const forgetUnwrittenOutputs = (): void => void (hasUnwrittenOutput = false);

export function reportUnwrittenOutput(sentence: string): void {
  printText(sentence);
  recordUnwrittenOutput();
}

export function recordUnwrittenOutput(): void {
  hasUnwrittenOutput = true;
  if (process.exitCode !== undefined) process.exitCode = exitCodeWithUnwrittenOutputs(Number(process.exitCode));
}

/** Returns a command's exit code: `code`, or 4 if `code` is 0 and some output could not be written. */
export const exitCodeWithUnwrittenOutputs = (code: number): number =>
  hasUnwrittenOutput ? decisiveExitCode([code, exitCodes.harnessFailed]) : code;
