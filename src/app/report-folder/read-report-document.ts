import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

import { parseAs, parseJson } from "../../base/parsing.ts";
import { type LoadEvidence, loadEvidenceSchema } from "../../evidence/load-evidence.ts";
import { contradictionInReport } from "../../report/model/contradictions.ts";
import type { ReportDocument, Report } from "../../report/model/report.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { readEvidence, readReport, UnreadableFile } from "../../report/model/report-file.ts";
import { withoutWebhookSecretsOnRead, withoutWebhookSecretsOfText } from "../judge/secrets.ts";
import { line, fromOutside } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";

/**
 * Reads a saved report of a run or of load with its evidence, without webhook secrets. Missing evidence is accepted.
 * Damaged evidence is an error, because the report would look as if nothing had been recorded.
 *
 * @param path folder of a report, or a report file; evidence is read only next to a file named `report.json`
 * @throws {UsageError} if the report or its evidence cannot be read
 */
export function readReportDocument(path: string): ReportDocument {
  return withReadErrors(path, readWithEvidence);
}

/**
 * Reads a saved report without its evidence, for comparisons, which need only the findings.
 *
 * @throws {UsageError} if it cannot be read
 */
export function readReportWithoutEvidence(path: string): ReportDocument {
  return withReadErrors(path, readWithoutEvidence);
}

function withReadErrors(path: string, read: (file: string) => ReportDocument): ReportDocument {
  try {
    return read(reportFileOf(path));
  } catch (error) {
    if (error instanceof UnreadableFile) throw new UsageError(fromOutside(error.message));
    if (error instanceof Error && "code" in error)
      throw new UsageError(
        line`The report cannot be read: ${path} (${String(error.code)}). Give the folder that a run has written, or its report.json.`,
      );
    throw error;
  }
}

/** Thrown if a saved report contradicts itself, because it was changed after it was written. */
export class ContradictoryReport extends UsageError {}

/**
 * Reads a report, and checks that its totals and its verdict follow from its findings.
 *
 * @throws {ContradictoryReport} if they do not
 */
function readConsistentReport(file: string): Report {
  const report = readReport(readFileSync(file, "utf8"), file);
  const contradiction = contradictionInReport(report);
  if (contradiction === null) return report;
  throw new ContradictoryReport(line`${file} contradicts itself: ${contradiction}. Give the report as it was written.`);
}

/** Name of the report file in a report's folder. Evidence is read only next to a file with this name. */
const reportFileName = "report.json";

const reportFileOf = (path: string): string => (statSync(path).isDirectory() ? join(path, reportFileName) : path);

function readWithEvidence(file: string): ReportDocument {
  const report = readConsistentReport(file);
  if (basename(file) !== reportFileName) return { report, evidence: null, load: new Map() };
  const folder = dirname(file);
  return documentOf(report, readEvidenceOf(folder, report), readLoadEvidenceOf(folder, report));
}

function readWithoutEvidence(file: string): ReportDocument {
  const report = readConsistentReport(file);
  const isStandard = basename(file) === reportFileName && report.load === undefined;
  const evidence = isStandard ? readTextIfPresent(join(dirname(file), "evidence.json")) : null;
  return {
    report: evidence === null ? report : withoutWebhookSecretsOfText(report, evidence),
    evidence: null,
    load: new Map(),
  };
}

/** Combines a report and its evidence, without webhook secrets, into a document to show. */
export function documentOf(
  report: Report,
  evidence: Evidence | null,
  load: ReadonlyMap<string, LoadEvidence> = new Map(),
): ReportDocument {
  if (evidence === null) return { report, evidence, load };
  return { ...withoutWebhookSecretsOnRead(report, evidence), load };
}

function readEvidenceOf(folder: string, { load }: Report): Evidence | null {
  const file = join(folder, "evidence.json");
  const text = load === undefined ? readTextIfPresent(file) : null;
  return text === null ? null : readEvidence(text, file);
}

function readLoadEvidenceOf(folder: string, { load }: Report): ReadonlyMap<string, LoadEvidence> {
  const names = (load?.runs ?? []).map(({ evidence }) => evidence).filter((name) => isWithin(folder, name));
  return new Map(
    names.flatMap((name): [string, LoadEvidence][] => {
      const file = join(folder, name);
      const text = readTextIfPresent(file);
      return text === null ? [] : [[name, readLoadEvidence(text, file)]];
    }),
  );
}

/**
 * Whether a file that a report names is inside the report's folder. A forged report must not make the harness read
 * other files.
 */
const isWithin = (folder: string, name: string): boolean =>
  name !== "" && !relative(resolve(folder), resolve(folder, name)).startsWith("..");

function readLoadEvidence(text: string, file: string): LoadEvidence {
  const parsed = parseAs(jsonOf(text, file), loadEvidenceSchema);
  if (parsed.kind === "value") return parsed.value;
  throw new UsageError(line`${file} is no load evidence: ${parsed.problem}.`);
}

function jsonOf(text: string, file: string): unknown {
  const json = parseJson(text);
  if (json.kind === "value") return json.value;
  throw new UnreadableFile(`${file} ${json.problem}.`);
}

/** Returns the text of a file; `null` if the file does not exist. */
function readTextIfPresent(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
