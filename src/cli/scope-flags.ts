import type { ReportDocument } from "../report/model/report.ts";
import { type FailedChecks, failedChecks, hasFailed } from "../app/judge/failed-checks.ts";
import { readReportDocument } from "../app/report-folder/saved-report.ts";
import { boundNames, boundTable, type RunBounds, withDefaultBounds, minCoverageSeed } from "../run/plan/bounds.ts";
import { readProfile, selectChecks, selectionIn, type RunScope } from "../run/plan/selection.ts";
import { profileNames } from "../spec/profiles.ts";
import { suites } from "../suites/all.ts";
import { line, UsageError } from "../base/line.ts";
import { cliMessages } from "./messages.ts";
import {
  flagForSetting,
  type FlagsOf,
  type OptionTable,
  readCount,
  readDuration,
  readRequirements,
  repeatable,
  requirementsOption,
} from "./options.ts";

const seedVariable = "CONFORMANCE_COVERAGE_SEED";

const scopeOptions = {
  "--only <pattern>": repeatable("only these clauses, checks or suites; globs allowed"),
  "--skip <pattern>": repeatable("all but these"),
  "--profile <name>": repeatable(`only this part of the interface: ${profileNames.join(", ")}`),
  ...requirementsOption,
  "--coverage-seed <n>": `draws other requests for the same pairs (default: $${seedVariable}, else 1; nightly: its day, such as 20300205)`,
} as const;

export const failedOption = {
  "--failed <report>": "only the checks that failed in this saved report, with what they need of others",
} as const;

/**
 * Property under which commander returns a flag that limits a run: the limit's name without its unit, e.g. `maxWait`
 * for `maxWaitMs`. Users give the unit in the value: `--max-wait 90s`.
 */
type FlagProperty<Name extends string> = Name extends `${infer Duration}Ms` ? Duration : Name;

export type ScopeFlags = FlagsOf<typeof scopeOptions & typeof failedOption> & {
  readonly [Name in keyof RunBounds as FlagProperty<Name>]?: string | boolean;
};

const valueNames = { count: " <n>", duration: " <duration>", switch: "" } as const;

export const scopeAndBoundOptions: OptionTable = {
  ...scopeOptions,
  ...Object.fromEntries(
    boundNames.map((name) => [`${flagForSetting(name)}${valueNames[boundTable[name].kind]}`, boundTable[name].help]),
  ),
};

export function readScope(flags: ScopeFlags): RunScope {
  const { skip, profile } = flags;
  const profiles = profile.map((name) => readProfile(name, "--profile"));
  const { only, suites: offered, option, ...seed } = readChosen(flags);
  const selection = { only, skip, ...(profiles.length > 0 && { profiles }) };
  return {
    ...withDefaultBounds(Object.fromEntries(boundNames.flatMap((name) => boundFromFlag(name, flags)))),
    suites: selectChecks(offered, selection, { only: option, skip: "--skip" }),
    ...selectionIn(selection),
    ...seed,
    ...readSeed(flags, process.env),
    requirements: readRequirements(flags),
    messages: cliMessages,
  };
}

export function scopeOfFailed(scope: RunScope, document: ReportDocument, file: string): RunScope {
  if (!hasFailed(document)) return scope;
  const { only, ...failed } = failedChecks(document, suites, file);
  const selection = { only, skip: scope.selection?.skip ?? [] };
  return { ...scope, ...failed, suites: selectChecks(failed.suites, selection), ...selectionIn(selection) };
}

interface ChosenChecks extends FailedChecks {
  readonly option: "--only" | "--failed";
}

function readChosen({ only, failed }: ScopeFlags): ChosenChecks {
  if (failed === undefined) return { only, suites, option: "--only" };
  if (only.length > 0)
    throw new UsageError(line`--failed and --only exclude each other: the report says what to repeat.`);
  return { ...failedChecks(readReportDocument(failed), suites, failed), option: "--failed" };
}

function readSeed(flags: ScopeFlags, environment: NodeJS.ProcessEnv): Pick<RunScope, "coverageSeed"> {
  const given = environment[seedVariable] ?? "";
  if (flags.coverageSeed !== undefined)
    return { coverageSeed: readCount(flags.coverageSeed, "--coverage-seed", minCoverageSeed) };
  return given === "" ? {} : { coverageSeed: readCount(given, seedVariable, minCoverageSeed) };
}

function boundFromFlag(name: keyof RunBounds, flags: ScopeFlags): [string, number | boolean][] {
  const bound = boundTable[name];
  const given = flags[name.replace(/Ms$/, "") as FlagProperty<typeof name>];
  if (given === undefined) return [];
  if (typeof given === "boolean") return [[name, given]];
  const flag = flagForSetting(name);
  return [[name, bound.kind === "count" ? readCount(given, flag, bound.min) : readDuration(given, flag)]];
}
