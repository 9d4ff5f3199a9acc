import { Command, Help, type HelpConfiguration, type OutputConfiguration } from "commander";

import { compareCommand } from "./commands/compare.ts";
import { explainCommand } from "./commands/explain.ts";
import { initCommand } from "./commands/init.ts";
import { listCommand } from "./commands/list.ts";
import { loadCommand } from "./commands/load.ts";
import { nightlyCommand } from "./commands/nightly.ts";
import { planCommand } from "./commands/plan.ts";
import { rejudgeCommand } from "./commands/rejudge.ts";
import { replayCommand } from "./commands/replay.ts";
import { reportCommand } from "./commands/report.ts";
import { runCommand } from "./commands/run.ts";
import { selftestCommand } from "./commands/selftest.ts";
import { serveCommand } from "./commands/serve.ts";
import { trendCommand } from "./commands/trend.ts";
import { vendorsCommand } from "./commands/vendors.ts";
import { verifyCommand } from "./commands/verify.ts";
import { watchCommand } from "./commands/watch.ts";
import { fittedHelp } from "./help-text.ts";
import { packageVersion } from "../app/version.ts";

const outputs: OutputConfiguration = {
  // Help is wrapped for the terminal; a pipe gets it as it is.
  writeOut: (text) => void process.stdout.write(process.stdout.isTTY ? fittedHelp(text, process.stdout.columns) : text),
  outputError: (text, write) => write(oneLine(text)),
};

const helps: HelpConfiguration = {
  // Names alone leave room for what they do.
  subcommandTerm: (command) => command.name(),
  // Of a flag that may be given several times, that there is none unless told goes without saying.
  optionDescription: (option) => new Help().optionDescription(option).replace(/ \(default: \[\]\)$/, ""),
};

/** The command line, with every command. */
export function conformanceProgram(): Command {
  const program = new Command("conformance")
    .description("Judges a deployment of the Agent Hosting Service Interface.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    // A command of a command has flags of its own, by names that the one around it has too.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput(outputs)
    .configureHelp(helps)
    .showSuggestionAfterError(true);

  for (const command of [
    runCommand(),
    planCommand(),
    initCommand(),
    listCommand(),
    explainCommand(),
    loadCommand(),
    serveCommand(),
    reportCommand(),
    rejudgeCommand(),
    replayCommand(),
    compareCommand(),
    nightlyCommand(),
    trendCommand(),
    watchCommand(),
    vendorsCommand(),
    verifyCommand(),
    selftestCommand(),
  ])
    program.addCommand(configured(command));
  return program;
}

/** Commands of a command included. */
function configured(command: Command): Command {
  command.commands.forEach(configured);
  return command.exitOverride().configureOutput(outputs).configureHelp(helps);
}

/** commander says a suggestion on a line of its own; one line is enough. */
const oneLineEnd = " See `conformance --help`.\n";
function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ") + (text.endsWith(".\n") ? oneLineEnd : `.${oneLineEnd}`);
}
