import { readFileSync, statSync } from "node:fs";
import { join, dirname } from "node:path";

import type { Evidence } from "../../evidence/evidence.ts";
import { evidencePieces, readEvidence, readReport, reportText, UnreadableFile } from "../../report/json.ts";
import type { Report, ReportDocument } from "../../report/report.ts";
import { type Digests, digesting, sha256Of, reportFile } from "../../report/statement/statement.ts";
import { UsageProblem } from "../../target/problem.ts";
import { UseProblem } from "../problem.ts";
import { writeFiles } from "./write-files.ts";

/** A report and the evidence that it rests on. */
export interface KeptRun {
  readonly report: Report;
  readonly evidence: Evidence;
}

/**
 * What a run has written into a folder, secrets of its webhooks included.
 *
 * @throws {UsageProblem} where it cannot be read
 * @throws {UseProblem} where it is the report of a load run
 */
export function readKeptRun(folder: string): KeptRun {
  try {
    if (!statSync(folder).isDirectory())
      throw new UsageProblem(`${folder} is no folder. Give the folder that a run has written.`);
    const file = (name: string): [string, string] => [readFileSync(join(folder, name), "utf8"), join(folder, name)];
    const report = readReport(...file("report.json"));
    if (report.load !== undefined) throw new UseProblem({ kind: "report of load", folder });
    return { report, evidence: readEvidence(...file("evidence.json")) };
  } catch (error) {
    if (error instanceof UnreadableFile) throw new UsageProblem(error.message);
    if (error instanceof Error && "code" in error)
      throw new UsageProblem(
        `The report cannot be read: ${folder} (${String(error.code)}). Give the folder that a run has written.`,
      );
    throw error;
  }
}

/** Writes `report.json` and `evidence.json`; where that fails, into a temporary folder. */
export function writeKeptRun(
  folder: string,
  { report, evidence }: KeptRun,
): ReturnType<typeof writeFiles> & { readonly digests: Digests } {
  const { pieces, sha256 } = digesting(() => evidencePieces(evidence));
  const written = writeFiles(folder, { "report.json": reportText(report), "evidence.json": pieces });
  return { ...written, digests: { "evidence.json": sha256() } };
}

/** Digests of a kept report and of the evidence that stands beside it and was read with it; none without evidence. */
export function digestsOfKept(path: string, { evidence, load }: ReportDocument): Digests {
  const folder = folderOf(path);
  const names = evidence === null ? [...load.keys()] : ["evidence.json"];
  const files = names.length === 0 ? [] : [reportFile, ...names];
  return Object.fromEntries(files.map((name) => [name, sha256Of(readFileSync(join(folder, name)))]));
}

/** Folder of a report that is named by its folder or its file. */
export const folderOf = (path: string): string => (statSync(path).isDirectory() ? path : dirname(path));
