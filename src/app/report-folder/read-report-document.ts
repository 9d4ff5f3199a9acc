import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

import { parseAs, parseJson } from "../../base/parsing.ts";
import { type LoadEvidence, loadEvidenceSchema } from "../../evidence/load-evidence.ts";
import { contradictionInReport, readEvidence, readReport } from "../../report/model/report-file.ts";
import type { ReportDocument, Report } from "../../report/model/report.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { withoutWebhookSecretsOnRead, withoutWebhookSecretsOfText } from "../judge/secrets.ts";
import { line } from "../../base/line.ts";
import { reportFileName } from "../../report/statement/statement.ts";
import { withReadErrors } from "./saved-run.ts";
import { UsageError } from "../../base/usage-error.ts";

/**
 * Reads a saved report with its evidence, without webhook secrets.
 *
 * @param path folder of a report, or a report file
 */
export const readReportDocument = (path: string): ReportDocument => readReportAt(path, readWithEvidence);

export const readReportWithoutEvidence = (path: string): ReportDocument => readReportAt(path, readWithoutEvidence);

const readReportAt = (path: string, read: (file: string) => ReportDocument): ReportDocument =>
  withReadErrors(
    line`The report cannot be read: ${path}`,
    "Give the folder that a run has written, or its report.json.",
    () => read(statSync(path).isDirectory() ? join(path, reportFileName) : path),
  );

/** The error for a saved report that contradicts itself, because it was changed after it was written. */
export class ContradictoryReport extends UsageError {}

function readConsistentReport(file: string): Report {
  const report = readReport(readFileSync(file, "utf8"), file);
  const contradiction = contradictionInReport(report);
  if (contradiction === null) return report;
  throw new ContradictoryReport(line`${file} contradicts itself: ${contradiction}. Give the report as it was written.`);
}

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

/** Whether a file is in a report's folder. A forged report must not make the harness read other files. */
export const isWithin = (folder: string, name: string): boolean =>
  name !== "" && !relative(resolve(folder), resolve(folder, name)).startsWith("..");

function readLoadEvidence(text: string, file: string): LoadEvidence {
  const json = parseJson(text);
  if (json.kind === "problem") throw new UsageError(line`${file} ${json.problem}.`);
  const parsed = parseAs(json.value, loadEvidenceSchema);
  if (parsed.kind === "value") return parsed.value;
  throw new UsageError(line`${file} is no load evidence: ${parsed.problem}.`);
}

function readTextIfPresent(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
