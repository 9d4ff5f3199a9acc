import { type Command, Help, type Option } from "commander";

import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { clauseIds } from "../../spec/clauses.ts";
import { profileNames } from "../../spec/profiles.ts";
import { requirementSets } from "../../spec/requirements.ts";
import { publishedTierNames } from "../../spec/tiers.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

const namesOf = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);

export const wordLists = {
  clauses: clauseIds,
  faults: namesOf(allFaults),
  variants: namesOf(allVariants),
  trials: namesOf([...allFaults, ...allVariants]),
  profiles: profileNames,
  requirements: requirementSets,
  tiers: publishedTierNames,
  shells,
} satisfies Readonly<Record<string, readonly string[]>>;

/** Values that the shell offers: a word list, file names (`file`) or nothing (`none`). */
export type ValueKind = keyof typeof wordLists | "file" | "none";

export interface FlagWords {
  readonly names: readonly string[];
  readonly says: string;
  readonly value: ValueKind;
}

export interface CommandWords {
  /** Name of the command without the name of the program, such as `key new`. Empty for the program itself. */
  readonly path: string;
  readonly says: string;
  readonly commands: readonly { readonly name: string; readonly says: string }[];
  readonly flags: readonly FlagWords[];
  readonly argument: ValueKind;
}

/**
 * The kind of value that each flag takes. For the command `selftest`, `selftest --only` takes precedence over `--only`.
 */
const listsOfFlags: Readonly<Record<string, ValueKind>> = {
  "--only": "clauses",
  "--skip": "clauses",
  "selftest --only": "trials",
  "--fault": "faults",
  "--variant": "variants",
  "--profile": "profiles",
  "--requirements": "requirements",
  "--tier": "tiers",
};

const listsOfArguments: Readonly<Record<string, ValueKind>> = { explain: "clauses", completion: "shells" };

export function commandWords(command: Command, path = ""): CommandWords[] {
  const below = command.commands.map((each) => commandWords(each, `${path} ${each.name()}`.trimStart()));
  const own = {
    path,
    says: command.description(),
    commands: command.commands.map((each) => ({ name: each.name(), says: each.description() })),
    flags: new Help().visibleOptions(command).map((option) => flagWords(option, path)),
    argument: listsOfArguments[path] ?? (command.registeredArguments.length === 0 ? "none" : "file"),
  };
  return [own, ...below.flat()];
}

function flagWords({ long, short, description, required, optional }: Option, path: string): FlagWords {
  const names = [long, short].filter((name) => typeof name === "string");
  const list = listsOfFlags[`${path} ${long}`] ?? listsOfFlags[long ?? ""] ?? "file";
  return { names, says: description, value: required || optional ? list : "none" };
}
