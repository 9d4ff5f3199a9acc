import { extname, join } from "node:path";

import type { Command } from "commander";

import type { LoadParameters } from "../../app/load/plan-load.ts";
import { slug, timeInName } from "../../base/files/file-names.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { EngineName } from "../../load/scenarios.ts";
import { type LoadTrial, trialName } from "../../load/trials.ts";
import { type TierName, tierNames } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import { readCount } from "../option-parsers.ts";
import { readRequirements, requirementsOption, type RequirementsFlag } from "../requirements-flag.ts";
import { type PatchFlags, type TargetFlags, withPatchOptions, withTargetOptions } from "../target-flags.ts";
import { type FormatFlags, type FailureFlags, withFormatOptions, withFailureOptions } from "../report/format-flags.ts";

/** Flags of `conformance load`. */
export interface LoadFlags extends TargetFlags, PatchFlags, FailureFlags, FormatFlags, RequirementsFlag {
  readonly all?: boolean;
  readonly engine?: string;
  readonly segments?: string;
  readonly emit?: string;
  readonly yes?: boolean;
  readonly maxRequests?: string;
  readonly out?: string;
  readonly k6Dashboard?: string;
  readonly quiet?: boolean;
}

export function withLoadOptions(command: Command): Command {
  withFailureOptions(withTargetOptions(command))
    .option("--all", "every scenario, the engines in turns")
    .option("--engine <name>", "k6 or autocannon (default: each scenario's own; in turns with --all)")
    .option("--segments <n>", "this many k6 processes share the load; their evidence is merged into one verdict")
    .option("--emit <what>", "k6-operator: print a manifest for many machines instead of sending anything")
    .option("-y, --yes", "the owner of the target agrees to the load: do not ask")
    .option("--max-requests <n>", "send at most this many requests; what does not fit is skipped")
    .option(...requirementsOption)
    .option("--out <dir>", "folder for report.json and load/*.json (default: a new one under reports/)")
    .option("--json <file>", "report.json to this file as well; - prints it, and nothing else, on standard output");
  withFormatOptions(command, ["report", "files"])
    .option("--k6-dashboard <file>", "k6's own page as HTML; with several runs, one for each (implies --engine k6)")
    .option("-q, --quiet", "only what is broken, and the verdict");
  return withPatchOptions(command);
}

/**
 * Reads the load parameters from the flags.
 *
 * @throws {UsageError} if a flag is invalid
 */
export function readLoadParameters(names: readonly string[], flags: LoadFlags): LoadParameters {
  if (flags.all === true && names.length > 0)
    throw new UsageError(
      line`--all runs every scenario: leave ${names.map((name) => JSON.stringify(name)).join(", ")} out.`,
    );
  const segments = flags.segments === undefined ? 1 : readCount(flags.segments, "--segments");
  const named = readEngine(flags.engine);
  const onlyK6 = [
    ...(segments > 1 ? ["--segments"] : []),
    ...(flags.k6Dashboard === undefined ? [] : ["--k6-dashboard"]),
  ];
  if (named === "autocannon" && onlyK6.length > 0)
    throw new UsageError(line`${onlyK6.join(" and ")} is k6's: leave --engine autocannon out.`);
  // Without a named scenario, k6 and autocannon alternate from scenario to scenario.
  const defaultEngine = names.length === 0 ? "in turns" : "first";
  return {
    scenarios: flags.all === true ? "all" : names,
    engine: onlyK6.length > 0 ? "k6" : (named ?? defaultEngine),
    segments,
    tier: readTier(flags.tier),
    requirements: readRequirements(flags),
    maxRequests:
      flags.maxRequests === undefined ? Number.POSITIVE_INFINITY : readCount(flags.maxRequests, "--max-requests"),
  };
}

/**
 * Reads `--engine`. Returns `null` if it is not given.
 *
 * @throws {UsageError} if there is no such engine
 */
export function readEngine(text: string | undefined): EngineName | null {
  if (text === undefined || text === "k6" || text === "autocannon") return text ?? null;
  throw new UsageError(line`--engine is ${JSON.stringify(text)}; there are k6 and autocannon.`);
}

function readTier(text: string | undefined): TierName | null {
  if (text === undefined) return null;
  const tier = tierNames.find((name) => name === text);
  if (tier === undefined)
    throw new UsageError(line`--tier is ${JSON.stringify(text)}; allowed: ${tierNames.join(", ")}.`);
  return tier;
}

/**
 * Returns the flags that describe the target. `--tier` belongs to them if the user gave one API key. With a target
 * file, it selects the tier to load.
 */
export function targetFlagsOf(flags: LoadFlags, environment: NodeJS.ProcessEnv): TargetFlags {
  const { tier: _, ...others } = flags;
  const hasAddress = flags.baseUrl !== undefined || (environment["CONFORMANCE_BASE_URL"] ?? "") !== "";
  return flags.target === undefined && hasAddress ? flags : others;
}

/** Default folder of a load report. */
export const defaultLoadFolder = (target: Target | null): string =>
  join("reports", `${timeInName(new Date())}-load-${slug(target?.name ?? "embedded").slice(0, 40)}`);

/** Returns the file for k6's own HTML page of a trial. If there are several trials, inserts the trial's name into the file name. */
export function dashboardOf(file: string | null, trial: LoadTrial, trials: number): string | null {
  if (file === null || trial.engine !== "k6") return null;
  if (trials === 1) return file;
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)}-${trialName(trial)}${extension}`;
}
