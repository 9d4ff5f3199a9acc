import { resolve } from "node:path";

import { writeAndRename } from "../app/report-folder/write-files.ts";
import { makeFolder } from "../base/files/output-folders.ts";
import { compareReports } from "../report/compare/compare-reports.ts";
import type { Comparison } from "../report/compare/comparison.ts";
import {
  parseRegressionRules,
  type RegressionRules,
  InvalidRegressionList,
} from "../report/compare/regression-rules.ts";
import { serializeEvidenceChunks, serializeReport } from "../report/model/report-file.ts";
import type { ReportDocument } from "../report/model/report.ts";
import { renderHar as harOf } from "../report/formats/har.ts";
import {
  type ReportFormat,
  type FormatName,
  type FormatParts,
  formatNames,
  formats,
  unavailableReason,
} from "../report/formats/registry.ts";
import { renderTerminal } from "../report/terminal/render-terminal.ts";
import { safeLine, line, UsageError } from "../base/line.ts";
import type { Judged } from "./judge.ts";

/** Writes `report.json` and `evidence.json` into a folder. Replaces old files only once both new files are written. */
export function writeReport({ report, evidence }: Pick<Judged, "report" | "evidence">, folder: string): void {
  if (folder === "") throw new UsageError(line`The folder of a report has an empty name.`);
  makeFolder(resolve(folder));
  writeAndRename(resolve(folder), {
    "evidence.json": () => serializeEvidenceChunks(evidence),
    "report.json": serializeReport(report),
  });
}

/** Renders a report as text: the terminal output without colours. */
export function renderText(
  { report, evidence }: ReportDocument,
  { width = 100 }: { readonly width?: number } = {},
): string {
  return renderTerminal(report, evidence, { colour: false, width, quiet: false });
}

/**
 * Renders the exchanges of a run as an HTTP Archive 1.2. Keys and secrets are redacted.
 *
 * @throws {UsageProblem} if `evidence` is `null`, e.g. in a load report
 */
export function renderHar({ report, evidence }: ReportDocument): string {
  if (evidence === null)
    throw new UsageError(
      line`An archive is made of exchanges: there are none of load, nor of a report without its evidence.json.`,
    );
  return harOf({ report, evidence });
}

/** A format in which a report can be written. */
export interface FormatEntry extends Pick<ReportFormat, "says" | "extension" | "contentType"> {
  readonly name: FormatName;
}

/** Lists every format that `conformance report` can write. */
export const listFormats = (): FormatEntry[] =>
  formatNames.map((name) => {
    const { says, extension, contentType } = formats[name];
    return { name, says, extension, contentType };
  });

/**
 * Renders a report in a format. `parts` has inputs that only some formats use, such as `digests` for `statement`.
 *
 * @throws {UsageProblem} if the document lacks what the format needs, such as exchanges for `har`
 */
export function renderFormat(name: FormatName, document: ReportDocument, parts: FormatParts = {}): string {
  const missing = unavailableReason(name, document);
  if (missing !== null) throw new UsageError(line`${name} cannot be made: ${missing}.`);
  const text = formats[name].render(document, parts);
  return typeof text === "string" ? text : [...text].join("");
}

/**
 * Compares two reports of one target, as `conformance compare` does.
 * @param regression list of the changes that count as regressions; see `conformance compare --help`
 * @throws {UsageProblem} if `regression` cannot be parsed, or only one of the reports is a load report
 */
export function compare(older: ReportDocument, newer: ReportDocument, regression = "default"): Comparison {
  if ((older.report.load === undefined) !== (newer.report.load === undefined))
    throw new UsageError(line`One report is of a run and the other of load: compare two of the same kind.`);
  return compareReports(older, newer, parseRegressionList(regression));
}

export function parseRegressionList(regression = "default"): RegressionRules {
  try {
    return parseRegressionRules(regression);
  } catch (error) {
    if (error instanceof InvalidRegressionList) throw new UsageError(safeLine(error.message));
    throw error;
  }
}
