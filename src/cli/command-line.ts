import { CommanderError } from "commander";

import { traceOf } from "../base/errors.ts";
import { exitCodes } from "./exit-codes.ts";
import { usageText } from "./problem-text.ts";
import { conformanceProgram } from "./program.ts";

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  const usage = usageText(error);
  if (usage !== null) {
    process.stderr.write(`${usage}\n`);
    return exitCodes.usage;
  }
  const text = traceOf(error);
  process.stderr.write(`The harness itself failed; this is not the target's fault. Please report it:\n${text}\n`);
  return exitCodes.harnessFailed;
}

// A reader that goes away (`conformance list | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(process.exitCode ?? exitCodes.fine);
  process.stderr.write(`Standard output cannot be written (${error.code ?? error.message}).\n`);
  process.exit(exitCodes.usage);
});
// Nor is it that nobody can hear of progress: the report is what counts.
process.stderr.on("error", () => {});

try {
  await conformanceProgram().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
