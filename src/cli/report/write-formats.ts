import {
  type FormatName,
  type FormatParts,
  formatNames,
  formats,
  unavailableReason,
} from "../../report/formats/registry.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { letSignalsIn } from "../signals.ts";
import { flagOf } from "../option-parsers.ts";
import { type OutputFiles, prepareFiles, writeOutput } from "../output-files.ts";
import type { FormatFlags } from "./format-flags.ts";

/** The requested formats and their files. */
export type PreparedFormats = OutputFiles<FormatName>;

/**
 * Checks, before anything is sent, that every requested format has a writable file of its own.
 *
 * @throws {UsageError}
 */
export const prepareFormats = (flags: FormatFlags): PreparedFormats => prepareFiles(formatNames, flags);

/** Writes every requested format. Returns a line for each that failed; the others are still written. */
export async function writeFormats(
  document: ReportDocument,
  prepared: PreparedFormats,
  { isFinal = true, ...parts }: FormatParts & { readonly isFinal?: boolean } = {},
): Promise<string[]> {
  const problems: string[] = [];
  for (const output of prepared.files.filter(({ file }) => file !== null || isFinal)) {
    problems.push(...writeOutput(output, () => formats[output.name].render(document, parts)));
    await letSignalsIn();
  }
  return problems;
}

/**
 * Checks that a saved report contains what the requested formats need.
 *
 * @throws {UsageError}
 */
export function assertSources(document: ReportDocument, flags: FormatFlags): void {
  for (const name of formatNames) {
    const problem = flags[name] === undefined ? null : unavailableReason(name, document);
    if (problem !== null) throw new UsageError(line`${flagOf(name)} cannot be written: ${problem}.`);
  }
}
