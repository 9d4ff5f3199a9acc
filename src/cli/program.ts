import { Command, Help, type HelpConfiguration, type OutputConfiguration } from "commander";

import { commandTable } from "./command-table.ts";
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

/**
 * The command line, with every command by its name and what it does. Flags, arguments and an action have only those that are wanted.
 *
 * @param isWanted whether a command of this name is going to be used
 */
export async function conformanceProgram(isWanted: (name: string) => boolean): Promise<Command> {
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

  for (const [name, { says, load }] of Object.entries(commandTable)) {
    const command = isWanted(name) ? await load() : new Command(name);
    program.addCommand(configured(command.description(says)));
  }
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
