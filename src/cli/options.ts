import { type Command, Option } from "commander";

import { parseRequirements } from "../app/requirements.ts";
import { parseDuration } from "../base/duration.ts";
import { line, UsageError } from "../base/line.ts";
import { newestRequirements, type RequirementSet, requirementSets } from "../spec/clause.ts";

type OptionRow =
  | string
  | {
      readonly help: string;
      readonly default?: unknown;
      readonly parse?: (text: string, before: never) => unknown;
      readonly isRequired?: true;
    };

export type OptionTable = Readonly<Record<string, OptionRow>>;

type LongFlag<Flags> = Flags extends `--${infer Rest}` ? Rest : Flags extends `-${string}, --${infer Rest}` ? Rest : "";
type FirstWord<Text> = Text extends `${infer Word} ${string}` ? Word : Text;
type WithoutNo<Name> = Name extends `no-${infer Positive}` ? Positive : Name;
type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** Property under which commander returns an option's value: `baseUrl` for `--base-url`, `load` for `--no-load`. */
type PropertyOf<Flags extends string> = CamelCase<WithoutNo<FirstWord<LongFlag<Flags>>>>;

type ValueOf<Flags, Row> = Row extends { readonly parse: (text: string, before: never) => infer Value }
  ? Value
  : Flags extends `${string}<${string}`
    ? string
    : boolean;

type HasValue<Flags, Row> = Flags extends `--no-${string}`
  ? true
  : Row extends { readonly default: unknown } | { readonly isRequired: true }
    ? true
    : false;

export type FlagsOf<Table extends OptionTable> = {
  readonly [
    Flags in keyof Table & string as HasValue<Flags, Table[Flags]> extends true ? PropertyOf<Flags> : never
  ]: ValueOf<Flags, Table[Flags]>;
} & {
  readonly [Flags in keyof Table & string as HasValue<Flags, Table[Flags]> extends true ? never : PropertyOf<Flags>]?:
    | ValueOf<Flags, Table[Flags]>
    | undefined;
};

export function withOptions(command: Command, ...tables: readonly OptionTable[]): Command {
  for (const [flags, row] of tables.flatMap((table) => Object.entries(table))) {
    const { help, parse, isRequired = false, default: fallback } = typeof row === "string" ? { help: row } : row;
    const option = new Option(flags, help).default(fallback).makeOptionMandatory(isRequired);
    command.addOption(parse === undefined ? option : option.argParser(parse as (text: string) => unknown));
  }
  return command;
}

/**
 * Returns the definition of an option that users can give several times. Its parsed value is the list of all given
 * values.
 */
export const repeatable = (help: string) =>
  ({ help: `${help} (repeatable)`, parse: appendValue, default: [] }) as const;

const appendValue = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Returns the flag for a setting: `--max-wait` for `maxWaitMs`, and `--badge-endpoint` for `badgeEndpoint`. */
export const flagForSetting = (name: string): string =>
  `--${name.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export function readDuration(text: string, flag: string): number {
  const ms = parseDuration(text);
  if (ms === null)
    throw new UsageError(line`${flag} is ${JSON.stringify(text)}; give a duration like 90s, 2m or 1h30m.`);
  return ms;
}

export function readCount(text: string, flag: string, min = 1): number {
  if (/^(0|[1-9]\d{0,8})$/.test(text) && Number(text) >= min) return Number(text);
  throw new UsageError(line`${flag} is ${JSON.stringify(text)}; give a whole number of at least ${min}.`);
}

export function readChoice<Word extends string>(
  text: string | undefined,
  flag: string,
  words: readonly Word[],
): Word | null {
  if (text === undefined) return null;
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new UsageError(line`${flag} is ${JSON.stringify(text)}; allowed: ${words.join(", ")}.`);
}

export const requirementsOption = {
  "--requirements <set>": `judge by this requirement set: ${requirementSets.join(", ")} (default: ${newestRequirements}); later checks run and do not count`,
} as const;

export type RequirementsFlag = FlagsOf<typeof requirementsOption>;

export const readRequirements = ({ requirements }: RequirementsFlag): RequirementSet =>
  parseRequirements(requirements, "--requirements");
