import { type Command, Help, Option } from "commander";

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

/** From this number of options on, a command's help shows only the most used options, unless `--help-all` is given. */
const minGroupedOptions = 15;

const otherOptions = "More options:";

const helpOptions = "Help:";

const expanded = new WeakSet<Command>();

const headings = new Map(
  Object.entries(mostUsedOptions).flatMap(([heading, options]) => options.map((option) => [option, heading] as const)),
);

export function withHelpGroups(command: Command): Command {
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

export function shownOptions(command: Command): Option[] {
  const all = new Help().visibleOptions(command);
  if (!all.some(({ helpGroupHeading }) => helpGroupHeading === helpOptions)) return all;
  const groups = [...Object.keys(mostUsedOptions), ...(expanded.has(command) ? [otherOptions] : []), helpOptions];
  return groups.flatMap((group) => all.filter(({ helpGroupHeading }) => helpGroupHeading === group));
}
