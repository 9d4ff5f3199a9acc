import { CommanderError } from "commander";

import { exitCodes } from "./exit-codes.ts";
import { catchFailures, hasToldFailure, mindKey, tellFailure, withoutSecrets } from "./failure.ts";
import { usageText } from "./problem-text.ts";
import { conformanceProgram } from "./program.ts";

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  const usage = usageText(error);
  if (usage !== null) {
    process.stderr.write(`${withoutSecrets(usage)}\n`);
    return exitCodes.usage;
  }
  tellFailure(error);
  return exitCodes.harnessFailed;
}

/** Runs the command that the arguments of this process name, and leaves its exit code. */
export async function runCommandLine(): Promise<void> {
  mindStreams();
  catchFailures();
  const apiKey = process.env["CONFORMANCE_API_KEY"] ?? "";
  if (apiKey !== "") mindKey(apiKey);
  // `conformance help run` names a command as well as `conformance run` does.
  const named = new Set(process.argv.slice(2));
  try {
    const program = await conformanceProgram((name) => named.has(name));
    await program.parseAsync();
    if (hasToldFailure()) process.exitCode = exitCodes.harnessFailed;
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function mindStreams(): void {
  // A reader that goes away (`conformance list | head`) is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? exitCodes.fine);
    process.stderr.write(`Standard output cannot be written (${error.code ?? error.message}).\n`);
    process.exit(exitCodes.usage);
  });
  // Nor is it that nobody can hear of progress: the report is what counts.
  process.stderr.on("error", () => {});
}
