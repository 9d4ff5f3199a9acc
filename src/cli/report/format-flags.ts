import type { Command } from "commander";

import type { RequestedFormats } from "../../app/report-folder/write-formats.ts";
import { parseAs } from "../../base/parsing.ts";
import { parseJsonFile, readTextFile } from "../../base/read-file.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import {
  type RequiredInput,
  type FormatName,
  formatNames,
  formats,
  unavailableReason,
} from "../../report/formats/registry.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { type Baseline, baselineSchema, type FailurePolicy, defaultPolicy } from "../../report/model/failure-policy.ts";
import { flagForSetting } from "../option-parsers.ts";
import { prepareFiles } from "../output-files.ts";
import { readSigning, type SigningFlags, withSigningOptions } from "./signing-flags.ts";

/** Flags that request formats of a report. Each names a file; `-` is standard output. */
export type FormatFlags = { readonly [name in FormatName]?: string } & SigningFlags;

/**
 * Adds a flag for each format except `json`, which each command defines by itself. Adds the flags that sign a statement.
 *
 * @param sources the inputs that the command has; a format that needs another input gets no flag
 */
export function withFormatOptions(
  command: Command,
  sources: readonly RequiredInput[] = ["report", "exchanges", "files"],
): Command {
  for (const name of formatNames) {
    const { says, source } = formats[name];
    if (name !== "json" && sources.includes(source)) command.option(`${flagForSetting(name)} <file>`, says);
  }
  return sources.includes("files") ? withSigningOptions(command) : command;
}

/**
 * Checks that every requested format has its own writable file, and reads the key that signs a statement. Runs before anything is sent.
 *
 * @throws {UsageError}
 */
export function prepareFormats(flags: FormatFlags): RequestedFormats {
  const signing = readSigning(flags, process.env);
  return { ...prepareFiles(formatNames, flags), ...(signing && { signing }) };
}

/**
 * Checks that a saved report has the data that the requested formats need.
 *
 * @throws {UsageError} if it lacks some, such as the exchanges
 */
export function assertSources(document: ReportDocument, flags: FormatFlags): void {
  for (const name of formatNames) {
    const problem = flags[name] === undefined ? null : unavailableReason(name, document);
    if (problem !== null) throw new UsageError(line`${flagForSetting(name)} cannot be written: ${problem}.`);
  }
}

/** Flags that decide which findings make a run fail. */
export interface FailureFlags {
  readonly strict?: boolean;
  readonly baseline?: string;
}

/** Adds the flags that decide which findings make a run fail. */
export const withFailureOptions = (command: Command): Command =>
  command
    .option("--strict", "a warning fails the run as well")
    .option("--baseline <file>", "known failures, each with a reason; one that no longer fails is an error");

/**
 * Reads the flags that decide which findings make a run fail.
 *
 * @throws {UsageError} if the baseline cannot be read
 */
export const readRules = ({ strict = false, baseline }: FailureFlags): FailurePolicy => ({
  strict,
  baseline: baseline === undefined ? defaultPolicy.baseline : readBaseline(baseline),
});

/**
 * Reads a baseline file, which lists known failures: `{"known": [{"check": "SSE-5", "reason": "fixed in 2.3"}]}`.
 *
 * @throws {UsageError}
 */
export function readBaseline(path: string): Baseline {
  const parsed = parseAs(parseJsonFile(readTextFile(path, "The baseline"), path), baselineSchema);
  if (parsed.kind === "value") return parsed.value.known;
  throw new UsageError(line`${path}: ${parsed.problem}. A baseline is {"known": [{"check": "SSE-5", "reason": "…"}]}.`);
}
