import { CommanderError } from "commander";

import { exitCodes } from "./exit-codes.ts";
import { catchFailures, hasPrintedFailure, registerKey, printHarnessError } from "./harness-errors.ts";
import { formatUsageError } from "./usage-errors.ts";
import { conformanceProgram } from "./program.ts";
import { printLine } from "./print-line.ts";
import { line } from "../base/line.ts";

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  const usage = formatUsageError(error);
  if (usage !== null) {
    printLine(usage);
    return exitCodes.usage;
  }
  printHarnessError(error);
  return exitCodes.harnessFailed;
}

/** Runs the command in the arguments of this process, and sets the exit code. */
export async function runCommandLine(): Promise<void> {
  handleStreamErrors();
  catchFailures();
  const apiKey = process.env["CONFORMANCE_API_KEY"] ?? "";
  if (apiKey !== "") registerKey(apiKey);
  // Any argument may name the command: in `conformance help run`, it is the second.
  const named = new Set(process.argv.slice(2));
  try {
    const program = await conformanceProgram((name) => named.has(name));
    await program.parseAsync();
    if (hasPrintedFailure()) process.exitCode = exitCodes.harnessFailed;
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function handleStreamErrors(): void {
  // A reader that closes the pipe (`conformance list | head`) is not an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? exitCodes.fine);
    printLine(line`Standard output cannot be written (${error.code ?? error.message}).`);
    process.exit(exitCodes.usage);
  });
  // Without standard error, only progress is lost.
  process.stderr.on("error", () => {});
}
