import { extname } from "node:path";
import type { LoadParameters } from "../../app/load/plan-load.ts";
import { line, UsageError } from "../../base/line.ts";
import type { EngineName } from "../../load/scenarios.ts";
import { type LoadTrial, trialName } from "../../load/trials.ts";
import { tierNames } from "../../spec/tiers.ts";
import { type FlagsOf, readCount, readRequirements, readChoice, requirementsOption } from "../options.ts";
import { failureOptions, type FormatFlags } from "../report/report-flags.ts";
import { faultAndVariantOptions, type TargetFlags, targetOptions } from "../target-flags.ts";

export const loadOptions = {
  ...targetOptions,
  ...failureOptions,
  "--all": "every scenario, the engines in turns",
  "--engine <name>": "k6 or autocannon (default: each scenario's own; in turns with --all)",
  "--segments <n>": "this many k6 processes share the load; their evidence is merged into one verdict",
  "--emit <what>": "k6-operator: print a manifest for many machines instead of sending anything",
  "-y, --yes": "the owner of the target agrees to the load: do not ask",
  "--max-requests <n>": "send at most this many requests; what does not fit is skipped",
  ...requirementsOption,
  "--out <dir>": "folder for report.json and load/*.json (default: a new one under reports/)",
  "--json <file>": "report.json to this file as well; - prints it, and nothing else, on standard output",
  "--k6-dashboard <file>": "k6's own page as HTML; with several runs, one for each (implies --engine k6)",
  "-q, --quiet": "only what is broken, and the verdict",
  ...faultAndVariantOptions,
} as const;

export type LoadFlags = FlagsOf<typeof loadOptions> & FormatFlags;

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
  // Without `--engine`, k6 and autocannon take turns if the user names no scenario. A scenario that the user names uses
  // the first installed engine of its own list.
  const defaultEngine = names.length === 0 ? "in turns" : "first";
  return {
    scenarios: flags.all === true ? "all" : names,
    engine: onlyK6.length > 0 ? "k6" : (named ?? defaultEngine),
    segments,
    tier: readChoice(flags.tier, "--tier", tierNames),
    requirements: readRequirements(flags),
    maxRequests:
      flags.maxRequests === undefined ? Number.POSITIVE_INFINITY : readCount(flags.maxRequests, "--max-requests"),
  };
}

export function readEngine(text: string | undefined): EngineName | null {
  if (text === undefined || text === "k6" || text === "autocannon") return text ?? null;
  throw new UsageError(line`--engine is ${JSON.stringify(text)}; there are k6 and autocannon.`);
}

/**
 * Returns the flags that describe the target. `--tier` is one of them only with a base URL. With a target file
 * or the embedded server, `--tier` only selects the tier to load.
 */
export function targetFlagsOf(flags: LoadFlags): TargetFlags {
  const { tier: _, ...others } = flags;
  const hasAddress = flags.baseUrl !== undefined || (process.env["CONFORMANCE_BASE_URL"] ?? "") !== "";
  return flags.target === undefined && hasAddress ? flags : others;
}

export function dashboardOf(file: string | null, trial: LoadTrial, trials: number): string | null {
  if (file === null || trial.engine !== "k6") return null;
  if (trials === 1) return file;
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)}-${trialName(trial)}${extension}`;
}
