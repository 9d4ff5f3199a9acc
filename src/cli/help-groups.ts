import { type Command, Help, Option } from "commander";

/** The flags that the help of a command shows, by the heading of their group. */
export type HelpGroups = Readonly<Record<string, readonly string[]>>;

/** Heading of the options that only `--help-all` shows. */
const otherOptions = "More options:";

const helpOptions = "Help:";

/** Commands whose help was asked for with `--help-all`. */
const expanded = new WeakSet<Command>();

/**
 * Puts the options of a command into groups. `--help` shows these groups alone, and `--help-all` all other options, too.
 *
 * @throws {Error} if a group names a flag that the command does not have
 */
export function withHelpGroups(command: Command, groups: HelpGroups): Command {
  for (const option of command.options) option.helpGroup(otherOptions);
  command
    .addHelpOption(new Option("-h, --help", "the options that are used most").helpGroup(helpOptions))
    .addOption(new Option("--help-all", "every option").helpGroup(helpOptions))
    .on("option:help-all", () => {
      expanded.add(command);
      command.help();
    });
  for (const [heading, flags] of Object.entries(groups))
    for (const flag of flags) {
      const option = command.options.find(({ long }) => long === flag);
      if (option === undefined) throw new Error(`the help group "${heading}" names ${flag}, which does not exist`);
      option.helpGroup(heading);
    }
  return command;
}

/** Returns the options that the help of a command shows, those outside of its groups last. */
export function shownOptions(command: Command): Option[] {
  const isOther = ({ helpGroupHeading }: Option): boolean => helpGroupHeading === otherOptions;
  const all = new Help().visibleOptions(command);
  return [...all.filter((each) => !isOther(each)), ...(expanded.has(command) ? all.filter(isOther) : [])];
}
