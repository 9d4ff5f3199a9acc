import { Command, Help, type HelpConfiguration, Option, type OutputConfiguration } from "commander";
import { packageVersion } from "../base/package-root.ts";
import { formatLabelled, wrap } from "../base/text.ts";
import { commandTable } from "./command-table.ts";
import { printLine } from "./print-line.ts";
import { withInvocation } from "./invocation.ts";
import { safeLine, type Line } from "../base/line.ts";

/**
 * The most used options, grouped by heading in the help text. An entry such as `serve --fault` applies only to the
 * command `serve`.
 */
export const mostUsedOptions: Readonly<Record<string, readonly string[]>> = {
  "Target:": ["--base-url", "--target", "--tier", "init --key-variable", "init --api-key", "init --agent"],
  "Client:": ["--base-url-variable", "--api-key-variable", "--agent-variable", "--trouble", "--no-trouble"],
  "Server:": ["--upstream", "--port", "--host", "serve --agent", "--virtual-clock", "serve --fault", "serve --variant"],
  "Deliveries:": ["--secret-file", "--header", "--events", "--dry-run"],
  "What is judged:": ["--only", "--skip", "--failed", "--strict-requests"],
  "Load:": ["load --all", "--scenario", "--no-load", "vendors --load", "--engine"],
  "Bounds:": [
    "--max-wait",
    "--max-requests",
    "--read-only",
    "--fast",
    "--fail-fast",
    "--timeout",
    "--for",
    "--concurrency",
    "nightly --yes",
    "load --yes",
    "vendors --yes",
  ],
  "Result:": [
    "--history",
    "--regression",
    "--out",
    "--json",
    "--html",
    "--junit",
    "report --markdown",
    "nightly --markdown",
    "vendors --markdown",
    "--baseline",
    "--exit-code",
    "--write-target",
    "init --yes",
    "--force",
    "--quiet",
  ],
};

/** The help of a command with at least this many options shows only the most used ones. `--help-all` shows all. */
const minGroupedOptions = 15;

const otherOptions = "More options:";

const helpOptions = "Help:";

const expanded = new WeakSet<Command>();

const headings = new Map(
  Object.entries(mostUsedOptions).flatMap(([heading, options]) => options.map((option) => [option, heading] as const)),
);

function withHelpGroups(command: Command): Command {
  if (command.options.length < minGroupedOptions) return command;
  for (const option of command.options)
    option.helpGroup(
      headings.get(`${command.name()} ${option.long}`) ?? headings.get(option.long ?? "") ?? otherOptions,
    );
  return command
    .addHelpOption(new Option("-h, --help", "the options that are used most").helpGroup(helpOptions))
    .addOption(new Option("--help-all", "every option").helpGroup(helpOptions))
    .on("option:help-all", () => {
      expanded.add(command);
      command.help();
    });
}

function shownOptions(command: Command): Option[] {
  const all = new Help().visibleOptions(command);
  if (!all.some(({ helpGroupHeading }) => helpGroupHeading === helpOptions)) return all;
  const groups = [...Object.keys(mostUsedOptions), ...(expanded.has(command) ? [otherOptions] : []), helpOptions];
  return groups.flatMap((group) => all.filter(({ helpGroupHeading }) => helpGroupHeading === group));
}

const outputConfiguration: OutputConfiguration = {
  // On a terminal, commander must not wrap help: `wrapHelp` does, after `withInvocation` has changed the line lengths.
  getOutHelpWidth: () => (process.stdout.isTTY ? Number.POSITIVE_INFINITY : 80),
  writeOut: (text) => {
    const help = withInvocation(text);
    process.stdout.write(process.stdout.isTTY ? wrapHelp(help, process.stdout.columns) : help);
  },
  // Commander's error message quotes the user's arguments. Therefore, `oneLine` removes control characters, and
  // `printLine` redacts secrets.
  outputError: (text) => printLine(oneLine(text)),
};

const helpConfiguration: HelpConfiguration = {
  // The list of subcommands shows their names without arguments, to leave room for descriptions.
  subcommandTerm: (command) => command.name(),
  visibleOptions: shownOptions,
  // Orders the option groups as in `shown`, the list of visible options. Commander's default is the order in which the
  // options were defined.
  groupItems: (_, shown, groupOf) => new Help().groupItems(shown, shown, groupOf),
  // Removes `(default: [])`, the default of every repeatable flag.
  optionDescription: (option) => new Help().optionDescription(option).replace(/ \(default: \[\]\)$/, ""),
};

export async function conformanceProgram(isWanted: (name: string) => boolean): Promise<Command> {
  const program = new Command("conformance")
    .description("Judges a deployment of the Agent Hosting Service Interface.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    // Flags after a subcommand belong to the subcommand, even if its parent has a flag of the same name.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput(outputConfiguration)
    .configureHelp(helpConfiguration)
    .showSuggestionAfterError(true);

  for (const [name, { summary, load }] of Object.entries(commandTable)) {
    const command = isWanted(name) ? await load() : new Command(name);
    program.addCommand(withHelpSettings(command.description(summary)));
  }
  return program;
}

function withHelpSettings(command: Command): Command {
  command.commands.forEach(withHelpSettings);
  return withHelpGroups(command).exitOverride().configureOutput(outputConfiguration).configureHelp(helpConfiguration);
}

function oneLine(text: string): Line {
  const sentence = text.trim().replace(/\s*\n\s*/g, " ");
  return safeLine(`${sentence}${sentence.endsWith(".") ? "" : "."} See \`conformance --help\`.`);
}

/** Minimum width of a description next to its flag. If there is less room, the description goes below the flag. */
const minTextWidth = 30;
const descriptionIndent = " ".repeat(6);
const termAndText = /^(\s*\S.*?\s{2,})(\S.*)$/;

export function wrapHelp(text: string, width: number): string {
  const lines = text.split("\n");
  if (lines.every((line) => line.length <= width)) return text;
  return paragraphsOf(lines)
    .flatMap((line) => (line.length <= width ? [line] : fittedLine(line, width)))
    .join("\n");
}

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

function fittedLine(line: string, width: number): string[] {
  if (isProse(line)) return wrap(line, width);
  const [, term = "", text = ""] = termAndText.exec(line) ?? [];
  if (text === "") return [line];
  if (width - term.length < minTextWidth)
    return [term.trimEnd(), ...formatLabelled(descriptionIndent, text, width, (blanks) => blanks)];
  const indent = " ".repeat(term.length);
  return wrap(text, width - term.length).map((part, at) => (at === 0 ? term : indent) + part);
}
