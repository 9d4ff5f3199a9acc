import { CommanderError } from "commander";

import { decisiveExitCode, exitCodes } from "../base/process-end.ts";
import { catchFailures, formatUsageError, hasPrintedFailure, printHarnessError, registerKey } from "./errors.ts";
import {
  exitCodeWithUnwrittenOutputs,
  forgetUnwrittenOutputs,
  printLine,
  recordUnwrittenOutput,
} from "./print-line.ts";
import { conformanceProgram } from "./program.ts";
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

export async function runCommandLine(): Promise<void> {
  handleStreamErrors();
  catchFailures();
  forgetUnwrittenOutputs();
  const apiKey = process.env["CONFORMANCE_API_KEY"] ?? "";
  if (apiKey !== "") registerKey(apiKey);
  // Loads each command whose name is among the arguments, because `conformance help run` also needs `run`.
  const named = new Set(process.argv.slice(2));
  try {
    // Shell completion needs the flags of every command.
    const program = await conformanceProgram((name) => named.has(name) || process.argv[2] === "completion");
    await program.parseAsync();
    const code = Number(process.exitCode ?? exitCodes.fine);
    process.exitCode = exitCodeWithUnwrittenOutputs(hasPrintedFailure() ? exitCodeAfterFailure(code) : code);
  } catch (error) {
    process.exitCode = exitCodeWithUnwrittenOutputs(exitCodeOf(error));
  }
}

const exitCodeAfterFailure = (code: number): number =>
  code === exitCodes.nothingExercised ? exitCodes.harnessFailed : decisiveExitCode([code, exitCodes.harnessFailed]);

function handleStreamErrors(): void {
  let isReported = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // EPIPE: the reader closed the pipe, as in `conformance list | head`, which is no error.
    if (error.code === "EPIPE" || isReported) return;
    isReported = true;
    printLine(line`Standard output cannot be written (${error.code ?? error.message}).`);
    recordUnwrittenOutput();
  });
  // Ignores the error: only messages are lost, such as progress. Results go to standard output and to files.
  process.stderr.on("error", () => {});
}
