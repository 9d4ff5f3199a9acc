import { readFileSync, statSync } from "node:fs";
import { join, dirname } from "node:path";

import type { Evidence } from "../../evidence/evidence.ts";
import { serializeEvidenceChunks, readEvidence, readReport, serializeReport } from "../../report/model/report-file.ts";
import type { Report, ReportDocument } from "../../report/model/report.ts";
import { type Digests, digestingChunks, sha256Of, reportFileName } from "../../report/statement/statement.ts";
import { joinLines, line, type Line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { UseCaseError } from "../use-case-error.ts";
import { writeFiles, type WrittenFiles } from "./write-files.ts";

/** Report and evidence of a run. Keys are redacted. Webhook secrets are kept, to check signatures. */
export interface SavedRun {
  readonly report: Report;
  readonly evidence: Evidence;
}

export const readSavedRun = (folder: string): SavedRun =>
  withReadErrors(line`The report cannot be read: ${folder}`, "Give the folder that a run has written.", () => {
    if (!statSync(folder).isDirectory())
      throw new UsageError(line`${folder} is no folder. Give the folder that a run has written.`);
    const file = (name: string): [string, string] => [readFileSync(join(folder, name), "utf8"), join(folder, name)];
    const report = readReport(...file("report.json"));
    if (report.load !== undefined) throw new UseCaseError({ kind: "report of load", folder });
    return { report, evidence: readEvidence(...file("evidence.json")) };
  });

export function withReadErrors<T>(failure: Line, advice: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error)
      throw new UsageError(joinLines([failure, line`(${String(error.code)}). ${advice}`], " "));
    throw error;
  }
}

/** Writes `evidence.json` and `report.json` into a folder. If that fails, uses a temporary folder. */
export function saveRun(folder: string, { report, evidence }: SavedRun): WrittenFiles & { readonly digests: Digests } {
  const { chunks, sha256 } = digestingChunks(() => serializeEvidenceChunks(evidence));
  const written = writeFiles(folder, { "evidence.json": chunks, "report.json": serializeReport(report) });
  return { ...written, digests: { "evidence.json": sha256() } };
}

export function digestsOfSaved(path: string, { evidence, load }: ReportDocument): Digests {
  const folder = folderOf(path);
  const names = evidence === null ? [...load.keys()] : ["evidence.json"];
  const files = names.length === 0 ? [] : [reportFileName, ...names];
  return Object.fromEntries(files.map((name) => [name, sha256Of(readFileSync(join(folder, name)))]));
}

export const folderOf = (path: string): string => (statSync(path).isDirectory() ? path : dirname(path));
