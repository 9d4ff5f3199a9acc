import { Command, Help, type Option } from "commander";
import { line, UsageError } from "../../base/line.ts";
import { joinWithOr } from "../../base/text.ts";
import { printResult, withSteps } from "../command.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { clauseIds } from "../../spec/clauses.ts";
import { profileNames } from "../../spec/profiles.ts";
import { requirementSets } from "../../spec/clause.ts";
import { publishedTierNames } from "../../spec/tiers.ts";

export const completionScript = (shell: Shell, program: string, commands: readonly CommandWords[]): string =>
  `${scripts[shell](program, commands).join("\n")}\n`;

type Render = (program: string, commands: readonly CommandWords[]) => string[];

const scripts: Readonly<Record<Shell, Render>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Quotes a text for bash or zsh. fish needs {@link quotedForFish}, because it interprets backslashes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const quotedForFish = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

function valueFunction(commands: readonly CommandWords[]): string[] {
  const takesValue = ({ value }: FlagWords): boolean => value !== "none";
  const cases = commands.flatMap(({ path, flags }) =>
    [...Map.groupBy(flags.filter(takesValue), ({ value }) => value)].map(([value, all]) => {
      const patterns = all.flatMap(({ names }) => names.map((name) => quoted(`${path} ${name}`)));
      return `    ${patterns.join("|")}) kind=${value} ;;`;
    }),
  );
  return ["_conformance_value() {", '  case "$1 $2" in', ...cases, "  esac", "}"];
}

const wordsFunction = (
  commands: readonly CommandWords[],
  assignments: (command: CommandWords) => readonly string[],
): string[] => [
  "_conformance_at() {",
  '  case "$1" in',
  ...commands.flatMap((command) => [
    `    ${quoted(command.path)})`,
    ...assignments(command).map((each) => `      ${each}`),
    "      ;;",
  ]),
  "  esac",
  "}",
];

const listLines = (assign: (name: string, words: readonly string[]) => string): string[] =>
  Object.entries(wordLists).map(([name, words]) => assign(`_conformance_${name}`, words));

const namesIn = (flags: readonly FlagWords[]): string[] => flags.flatMap(({ names }) => names);

function bashScript(program: string, commands: readonly CommandWords[]): string[] {
  return [
    `# Completes ${program} in bash. To load it: source <(${program} completion bash)`,
    ...listLines((name, words) => `${name}=${quoted(words.join(" "))}`),
    ...wordsFunction(commands, ({ commands: below, flags, argument }) => [
      `commands=${quoted(below.map(({ name }) => name).join(" "))}`,
      `flags=${quoted(namesIn(flags).join(" "))}`,
      `argument=${argument}`,
    ]),
    ...valueFunction(commands),
    "_conformance() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" at="" commands="" flags="" argument="none" kind="" word list',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    _conformance_at "$at"',
    '    [[ " $commands " == *" $word "* ]] && at="${at:+$at }$word"',
    "  done",
    '  _conformance_at "$at"',
    '  _conformance_value "$at" "${COMP_WORDS[COMP_CWORD-1]}"',
    "  if [[ -z $kind && $current == -* ]]; then list=$flags",
    "  elif [[ -z $kind && -n $commands ]]; then list=$commands",
    "  elif [[ ${kind:-$argument} == none ]]; then list=$flags",
    '  elif [[ ${kind:-$argument} == file ]]; then list=""',
    '  else word="_conformance_${kind:-$argument}" list="${!word}"',
    "  fi",
    '  COMPREPLY=($(compgen -W "$list" -- "$current"))',
    "}",
    "# Without a word of its own, bash completes files.",
    `complete -o default -F _conformance ${program}`,
  ];
}

function zshScript(program: string, commands: readonly CommandWords[]): string[] {
  const described = (name: string, summary: string): string => quoted(`${name}:${summary}`);
  return [
    `# Completes ${program} in zsh. To load it, after compinit: source <(${program} completion zsh)`,
    ...listLines((name, words) => `${name}=(${words.join(" ")})`),
    ...wordsFunction(commands, ({ commands: below, flags, argument }) => [
      `commands=(${below.map(({ name, summary }) => described(name, summary)).join(" ")})`,
      `flags=(${flags.flatMap(({ names, summary }) => names.map((name) => described(name, summary))).join(" ")})`,
      `argument=${argument}`,
    ]),
    ...valueFunction(commands),
    "_conformance() {",
    '  local at="" argument="none" kind="" word',
    "  local -a commands flags",
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    '    _conformance_at "$at"',
    '    (( ${commands[(I)${(b)word}:*]} )) && at="${at:+$at }$word"',
    "  done",
    '  _conformance_at "$at"',
    '  _conformance_value "$at" "${words[CURRENT-1]}"',
    "  if [[ -z $kind && ${words[CURRENT]} == -* ]]; then _describe -o option flags",
    "  elif [[ -z $kind && $#commands -gt 0 ]]; then _describe command commands",
    "  elif [[ ${kind:-$argument} == none ]]; then _describe -o option flags",
    "  elif [[ ${kind:-$argument} == file ]]; then _files",
    '  else word="_conformance_${kind:-$argument}"; compadd -- "${(@P)word}"',
    "  fi",
    "}",
    `compdef _conformance ${program}`,
  ];
}

function fishScript(program: string, commands: readonly CommandWords[]): string[] {
  const valueOf = (kind: ValueKind): string =>
    kind === "none" ? "" : kind === "file" ? " -r -F" : ` -x -a '$_conformance_${kind}'`;
  const argumentOf = (kind: ValueKind): string => (kind === "file" ? " -F" : ` -a '$_conformance_${kind}'`);
  const linesOf = ({ path, commands: below, flags, argument }: CommandWords): string[] => {
    const at = `complete -c ${program} -n ${quotedForFish(`_conformance_at ${quotedForFish(path)}`)}`;
    return [
      ...below.map(({ name, summary }) => `${at} -a ${name} -d ${quotedForFish(summary)}`),
      ...flags.map(({ names, summary, value }) => {
        const forms = names.map((name) => (name.startsWith("--") ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`));
        return `${at}${forms.join("")}${valueOf(value)} -d ${quotedForFish(summary)}`;
      }),
      ...(argument === "none" ? [] : [`${at}${argumentOf(argument)}`]),
    ];
  };
  return [
    `# Completes ${program} in fish. To load it: ${program} completion fish | source`,
    ...listLines((name, words) => `set -g ${name} ${words.join(" ")}`),
    `set -g _conformance_paths ${commands.flatMap(({ path }) => (path === "" ? [] : [quotedForFish(path)])).join(" ")}`,
    "# Whether the words before the cursor name this command.",
    "function _conformance_at",
    '  set -l at ""',
    "  for word in (commandline -opc)[2..-1]",
    '    set -l next (string trim -- "$at $word")',
    "    contains -- $next $_conformance_paths; and set at $next",
    "  end",
    '  test "$at" = "$argv[1]"',
    "end",
    `complete -c ${program} -f`,
    ...commands.flatMap(linesOf),
  ];
}

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

/** The values that the shell offers for a flag or an argument: a word list, file names (`file`) or nothing (`none`). */
type ValueKind = keyof typeof wordLists | "file" | "none";

interface FlagWords {
  readonly names: readonly string[];
  readonly summary: string;
  readonly value: ValueKind;
}

interface CommandWords {
  /** Names of the command and its parents, without the program: `key new`. Empty for the program itself. */
  readonly path: string;
  readonly summary: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly flags: readonly FlagWords[];
  readonly argument: ValueKind;
}

/** Words that the shell offers as values of a flag. A row such as `selftest --only` is for this command alone. */
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
    summary: command.description(),
    commands: command.commands.map((each) => ({ name: each.name(), summary: each.description() })),
    flags: new Help().visibleOptions(command).map((option) => flagWords(option, path)),
    argument: listsOfArguments[path] ?? (command.registeredArguments.length === 0 ? "none" : "file"),
  };
  return [own, ...below.flat()];
}

function flagWords({ long, short, description, required, optional }: Option, path: string): FlagWords {
  const names = [long, short].filter((name) => typeof name === "string");
  const list = listsOfFlags[`${path} ${long}`] ?? listsOfFlags[long ?? ""] ?? "file";
  return { names, summary: description, value: required || optional ? list : "none" };
}

const examples = `
The script completes commands, flags, clause ids (after --only, --skip and explain), and the names of faults, variants, profiles and tiers.
Print it again after an update.

Examples:
  source <(conformance completion bash)                       in ~/.bashrc
  source <(conformance completion zsh)                        in ~/.zshrc, after compinit
  conformance completion fish | source                        in ~/.config/fish/config.fish

Exit codes: 0 printed; 2 wrong usage.`;

/** `conformance completion SHELL`: prints a script that completes command lines of this program. */
export const completionCommand = (): Command =>
  withSteps(new Command("completion").argument("<shell>", joinWithOr(shells)).addHelpText("after", examples), {
    prepare: (shell: string, _flags: object, command: Command) => ({
      shell: readShell(shell),
      program: command.parent ?? command,
    }),
    act: ({ shell, program }) => completionScript(shell, program.name(), commandWords(program)),
    present: printResult,
  });

function readShell(name: string): Shell {
  const shell = shells.find((each) => each === name);
  if (shell !== undefined) return shell;
  throw new UsageError(line`The shell is ${JSON.stringify(name)}; there is completion for ${joinWithOr(shells)}.`);
}
