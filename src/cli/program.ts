import { Command, Help, type HelpConfiguration, type OutputConfiguration } from "commander";

import { packageVersion } from "../app/version.ts";
import { formatLabelled, wrap } from "../base/text.ts";
import { commandTable } from "./command-table.ts";

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

/** Room that a text behind a term needs, to be worth wrapping there. */
const leastTextWidth = 30;
/** Where a text stands that has no room behind its term. */
const below = " ".repeat(6);
/** What is behind a term: two blanks or more, then text. */
const termAndText = /^(\s*\S.*?\s{2,})(\S.*)$/;

/**
 * The help of a command, no wider than the terminal: paragraphs are wrapped, and so is the text behind a term, below its own beginning.
 * A command to copy stays on its line.
 */
export function fittedHelp(text: string, width: number): string {
  const lines = text.split("\n");
  if (lines.every((line) => line.length <= width)) return text;
  return paragraphsOf(lines)
    .flatMap((line) => (line.length <= width ? [line] : fitted(line, width)))
    .join("\n");
}

/** Lines with those of a paragraph joined: lines that begin with no blank, and follow one another. */
function paragraphsOf(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const before = joined.at(-1);
    const goesOn = before !== undefined && isProse(before) && isProse(line) && !before.endsWith(":");
    if (goesOn) joined[joined.length - 1] = `${before} ${line}`;
    else joined.push(line);
  }
  return joined;
}

const isProse = (line: string): boolean => /^\S/.test(line);

function fitted(line: string, width: number): string[] {
  if (isProse(line)) return wrap(line, width);
  const [, term = "", text = ""] = termAndText.exec(line) ?? [];
  if (text === "") return [line];
  if (width - term.length < leastTextWidth)
    return [term.trimEnd(), ...formatLabelled(below, text, width, (blanks) => blanks)];
  const indent = " ".repeat(term.length);
  return wrap(text, width - term.length).map((part, at) => (at === 0 ? term : indent) + part);
}
