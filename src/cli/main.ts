import { Command, CommanderError } from "commander";

import { UsageProblem } from "../target/problem.ts";
import { explainCommand } from "./commands/explain.ts";
import { initCommand } from "./commands/init.ts";
import { listCommand } from "./commands/list.ts";
import { loadCommand } from "./commands/load.ts";
import { planCommand } from "./commands/plan.ts";
import { rejudgeCommand } from "./commands/rejudge.ts";
import { runCommand } from "./commands/run.ts";
import { selftestCommand } from "./commands/selftest.ts";
import { serveCommand } from "./commands/serve.ts";
import { watchCommand } from "./commands/watch.ts";
import { exitCodes } from "./exit-codes.ts";
import { packageVersion } from "../session/version.ts";

const program = new Command("conformance")
  .description("Judges a deployment of the Agent Hosting Service Interface.")
  .version(packageVersion(), "-V, --version", "print the version")
  .helpOption("-h, --help", "show help")
  // A command of a command has flags of its own, by names that the one around it has too.
  .enablePositionalOptions()
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(oneLine(text)) })
  .showSuggestionAfterError(true);

for (const command of [
  runCommand(),
  planCommand(),
  initCommand(),
  listCommand(),
  explainCommand(),
  loadCommand(),
  serveCommand(),
  rejudgeCommand(),
  watchCommand(),
  selftestCommand(),
])
  program.addCommand(withOneLineErrors(command));

/** Commands of a command included. */
function withOneLineErrors(command: Command): Command {
  command.commands.forEach(withOneLineErrors);
  return command.exitOverride().configureOutput({ outputError: (text, write) => write(oneLine(text)) });
}

/** commander says a suggestion on a line of its own; one line is enough. */
const oneLineEnd = " See `conformance --help`.\n";
function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ") + (text.endsWith(".\n") ? oneLineEnd : `.${oneLineEnd}`);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  if (error instanceof UsageProblem) {
    process.stderr.write(`${error.message}\n`);
    return exitCodes.usage;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`The harness itself failed; this is not the target's fault. Please report it:\n${text}\n`);
  return exitCodes.harnessFailed;
}

// A reader that goes away (`conformance list | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(process.exitCode ?? exitCodes.fine);
});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
