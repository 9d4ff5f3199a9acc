import type { ReportDocument } from "../../report/model/report.ts";
import {
  type FormatName,
  type FormatParts,
  formatNames,
  formats,
  unavailableReason,
} from "../../report/formats/registry.ts";
import { UsageError } from "../../base/usage-error.ts";
import { type OutputFiles, prepareFiles, writeOutput } from "../output-files.ts";
import { flagOf } from "../option-parsers.ts";
import type { FormatFlags } from "./format-flags.ts";

/** Which formats go where; every file has been made sure of. */
export type PreparedFormats = OutputFiles<FormatName>;

/**
 * Makes sure, before anything is sent, that every format has a file of its own that can be written.
 *
 * @throws {UsageError}
 */
export const prepareFormats = (flags: FormatFlags): PreparedFormats =>
  prepareFiles(
    formatNames.flatMap((name) => {
      const path = flags[name];
      return path === undefined ? [] : [{ name, flag: flagOf(name), path }];
    }),
  );

/** Everything that formats are made of, and whether this is the last time that they are written: only then is one printed. */
export interface Writing extends FormatParts {
  readonly isLast?: boolean;
}

/** Writes every format. One that fails costs none of the others; gives a line for each of those. */
export function writeFormats(
  document: ReportDocument,
  prepared: PreparedFormats,
  { isLast = true, ...parts }: Writing = {},
): string[] {
  return prepared.files
    .filter(({ file }) => file !== null || isLast)
    .flatMap((output) => writeOutput(output, () => formats[output.name].render(document, parts)));
}

/**
 * Makes sure, before a file is touched, that a kept report has what the formats are made of.
 *
 * @throws {UsageError}
 */
export function assertSources(document: ReportDocument, flags: FormatFlags): void {
  for (const name of formatNames) {
    const lack = flags[name] === undefined ? null : unavailableReason(name, document);
    if (lack !== null) throw new UsageError(`${flagOf(name)} cannot be written: ${lack}.`);
  }
}
