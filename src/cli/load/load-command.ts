import type { Command } from "commander";
import { describeNotSent, type NotSentReason, UnsendableLoadError } from "../../app/load/not-sent-reason.ts";
import { fromOutside, line, UsageError } from "../../base/errors.ts";
import { type CommandSteps, withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { formatCount } from "../../base/text.ts";
import { formatDuration } from "../../base/duration.ts";
import type { LoadParameters, LoadPreview } from "../../app/load/plan-load.ts";
import { type Estimate, type LoadTrial, trialName } from "../../load/trials.ts";
import { extname } from "node:path";
import type { EngineName } from "../../load/scenarios.ts";
import { tierNames } from "../../spec/tiers.ts";
import { type FlagsOf, readCount, readRequirements, readWord, requirementsOption } from "../options.ts";
import { failureOptions, type FormatFlags } from "../report/report-flags.ts";
import { patchOptions, type TargetFlags, targetOptions } from "../target-flags.ts";

const maxListed = 40;

export function formatLoadPreview(outlook: LoadPreview): string {
  const left = outlook.unsendable.map((sentence) => `Not sent: ${sentence}.\n`);
  return [trialsText(outlook), ...left].join("");
}

function trialsText({ baseUrl, keys, estimates, restSeconds }: LoadPreview): string {
  const requests = estimates.reduce((sum, each) => sum + each.requests, 0);
  const seconds = estimates.reduce((sum, each) => sum + each.seconds, restSeconds);
  const isOpen = estimates.some(({ openEnded }) => openEnded.length > 0);
  const total = `${formatCount(estimates.length, "run")}, ${isOpen ? "more than " : ""}${formatCount(requests, "request")}, about ${formatDuration(seconds * 1000)}`;
  if (baseUrl === null) return `Load on the embedded server: ${total}\n`;
  const beyond = estimates.filter(({ isBeyondLimit }) => isBeyondLimit).length;
  const lines = [
    `Load on ${baseUrl} with ${formatCount(keys.length, "key")} (${keys.join(", ")}): ${total}${restSeconds > 0 ? ` (${formatDuration(restSeconds * 1000)} of it waiting for the key's minute)` : ""}`,
    ...estimates.slice(0, maxListed).map(lineOf),
    ...(beyond === 0
      ? []
      : [
          `${formatCount(beyond, "run")} ${beyond === 1 ? "asks" : "ask"} for more than a key's limits admit, on purpose.`,
        ]),
  ];
  return `${lines.join("\n")}\n`;
}

function lineOf({ trial: { scenario, tier, engine }, requests, openEnded, isBeyondLimit, seconds }: Estimate): string {
  const what = [...openEnded, formatCount(requests, "request")].join(", and ");
  const beyond = isBeyondLimit ? ", beyond the limit" : "";
  return `  ${scenario.name.padEnd(23)}${tier.padEnd(11)}${engine.padEnd(11)}${what}${beyond}, ${formatDuration(seconds * 1000)}`;
}

export function formatNotSentReason(why: NotSentReason): string {
  switch (why.kind) {
    case "unknown scenario":
      return why.near.length === 0
        ? describeNotSent(why)
        : `${describeNotSent(why)} \`conformance load list\` shows all.`;
    case "no tier":
      return "No key has a known tier with known limits: give --tier, or `tier` and `tiers` in a target file.";
    case "several runs":
      return `--emit k6-operator writes one run, and ${why.runs} are chosen: name one scenario, and its --tier.`;
    case "unsendable agent":
      return `${why.problem}: name another agent with --agent, or in the target file. Nothing was sent.`;
    case "no engine":
    case "no keys":
    case "no key of the tier":
    case "nothing to send":
    case "lacks what it needs":
    case "nothing to load":
    case "harness limit":
    case "read only":
    case "interrupted":
    case "not agreed":
      return describeNotSent(why);
  }
}

export function notSentExitCode({ kind }: NotSentReason): number | null {
  if (kind === "harness limit") return exitCodes.harnessFailed;
  if (kind === "interrupted") return exitCodes.interrupted;
  return kind === "nothing to load" || kind === "unsendable agent" ? exitCodes.nothingExercised : null;
}

export const withLoadSteps = <Args extends readonly unknown[], Prepared, Result>(
  command: Command,
  { prepare, act, present }: CommandSteps<Args, Prepared, Result>,
): Command =>
  withSteps(command, {
    prepare: (...args: Args) => withFlagNames(async () => prepare(...args)),
    act: (prepared: Prepared) => withFlagNames(async () => act(prepared)),
    present,
  });

async function withFlagNames<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof UnsendableLoadError ? new UsageError(fromOutside(formatNotSentReason(error.reason))) : error;
  }
}

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
  ...patchOptions,
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
  // If the user names no scenario, k6 and autocannon take turns. Otherwise each scenario uses the first engine in its
  // own list.
  const defaultEngine = names.length === 0 ? "in turns" : "first";
  return {
    scenarios: flags.all === true ? "all" : names,
    engine: onlyK6.length > 0 ? "k6" : (named ?? defaultEngine),
    segments,
    tier: readWord(flags.tier, "--tier", tierNames),
    requirements: readRequirements(flags),
    maxRequests:
      flags.maxRequests === undefined ? Number.POSITIVE_INFINITY : readCount(flags.maxRequests, "--max-requests"),
  };
}

export function readEngine(text: string | undefined): EngineName | null {
  if (text === undefined || text === "k6" || text === "autocannon") return text ?? null;
  throw new UsageError(line`--engine is ${JSON.stringify(text)}; there are k6 and autocannon.`);
}

/** Returns the flags that describe the target. Includes `--tier` only for an address without a target file. */
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
