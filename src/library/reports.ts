import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { compareReports } from "../compare/compare-reports.ts";
import type { Comparison } from "../compare/comparison.ts";
import { parseRegressionRules, type RegressionRules, UnknownRegression } from "../compare/rules.ts";
import { evidenceText, reportText } from "../report/json.ts";
import type { ReportDocument } from "../report/report.ts";
import { renderHar as harOf } from "../report/formats/har.ts";
import {
  type Format,
  type FormatName,
  type FormatParts,
  formatNames,
  formats,
  lackOf,
} from "../report/formats/registry.ts";
import { loadCommand } from "../report/formats/finding-text.ts";
import { renderLoadTerminal } from "../report/load-terminal.ts";
import { renderTerminal } from "../report/terminal.ts";
import { keyVariable } from "../report/key-variable.ts";
import { UsageProblem } from "../target/problem.ts";
import type { Judged } from "./judge.ts";

/**
 * Writes `report.json` and `evidence.json` into a folder, which is made where it is missing: what `conformance report`, `compare` and
 * `rejudge` take. Throws Node's own error where that fails.
 */
export function writeReport({ report, evidence }: Pick<Judged, "report" | "evidence">, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "report.json"), reportText(report));
  writeFileSync(join(folder, "evidence.json"), evidenceText(evidence));
}

/** The report, of a run or of load, as a terminal shows it, without colours. */
export function renderText(
  { report, evidence }: ReportDocument,
  { width = 100 }: { readonly width?: number } = {},
): string {
  const look = { colour: false, width, quiet: false, folder: null } as const;
  if (report.load !== undefined)
    return renderLoadTerminal(report, { ...look, againLines: (row) => [loadCommand(row)] });
  const known = evidence ?? { exchanges: [], deliveries: [] };
  return renderTerminal(report, known, { ...look, variableOf: keyVariable });
}

/**
 * The exchanges of a run as an HTTP Archive 1.2, redacted as they are in the evidence.
 *
 * @throws {UsageProblem} where there are none: of load, and of a report that was read without its `evidence.json`
 */
export function renderHar({ report, evidence }: ReportDocument): string {
  if (evidence === null)
    throw new UsageProblem(
      "An archive is made of exchanges: there are none of load, nor of a report without its evidence.json.",
    );
  return harOf({ report, evidence });
}

/** A format that a report can be written in. */
export interface FormatEntry extends Pick<Format, "says" | "extension" | "contentType"> {
  readonly name: FormatName;
}

/** Every format that `conformance report` can write. */
export const listFormats = (): FormatEntry[] =>
  formatNames.map((name) => {
    const { says, extension, contentType } = formats[name];
    return { name, says, extension, contentType };
  });

/**
 * A report in one of the formats.
 *
 * @param parts `digests` of the files beside the report are needed for `statement`, which throws a plain error without them
 * @throws {UsageProblem} where the document lacks what the format is made of: `har` needs exchanges, `statement` evidence
 */
export function renderFormat(name: FormatName, document: ReportDocument, parts: FormatParts = {}): string {
  const lack = lackOf(name, document);
  if (lack !== null) throw new UsageProblem(`${name} cannot be made: ${lack}.`);
  const text = formats[name].render(document, parts);
  return typeof text === "string" ? text : [...text].join("");
}

/**
 * What became of a target between two reports, as `conformance compare` says it.
 *
 * @param regression what counts as a regression, such as `default,reading,latency:30%`; see `conformance compare --help`
 * @throws {UsageProblem} where that cannot be understood, or one report is of a run and the other of load.
 */
export function compare(older: ReportDocument, newer: ReportDocument, regression = "default"): Comparison {
  if ((older.report.load === undefined) !== (newer.report.load === undefined))
    throw new UsageProblem("One report is of a run and the other of load: compare two of the same kind.");
  return compareReports(older, newer, readRules(regression));
}

/** @throws {UsageProblem} where it cannot be understood */
export function readRules(regression = "default"): RegressionRules {
  try {
    return parseRegressionRules(regression);
  } catch (error) {
    if (error instanceof UnknownRegression) throw new UsageProblem(error.message);
    throw error;
  }
}
