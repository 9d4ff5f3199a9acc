import { statSync } from "node:fs";
import { basename, dirname } from "node:path";

import type { ReportDocument } from "../../report/model/report.ts";
import { documentOf, readReportAlone } from "../../app/report-folder/read-document.ts";
import { UsageError } from "../../base/usage-error.ts";
import { rejudgeRun } from "../../app/rejudge.ts";
import { cliMessages } from "../messages.ts";
import { readSavedRun } from "../../app/report-folder/saved-run.ts";

/**
 * Reads two kept reports of the same kind.
 *
 * @param isJudgedAgain judge the kept evidence of both by the suites of this version first
 * @throws {UsageError}
 */
export function readBothReports(
  oldPath: string,
  newPath: string,
  isJudgedAgain: boolean,
): { readonly older: ReportDocument; readonly newer: ReportDocument } {
  const read = isJudgedAgain ? readAgain : readReportAlone;
  const [older, newer] = [read(oldPath), read(newPath)];
  const [was, is] = [kindOf(older), kindOf(newer)];
  if (was !== is)
    throw new UsageError(
      `The report ${oldPath} is of ${was}, the report ${newPath} of ${is}. Give two reports of runs, or two of load.`,
    );
  return { older, newer };
}

const kindOf = ({ report }: ReportDocument): string => (report.load === undefined ? "a run" : "load");

/** Evidence is judged as it was kept: secrets of webhooks are taken out only of what is shown. */
function readAgain(path: string): ReportDocument {
  const { report, evidence } = readSavedRun(folderOf(path));
  return documentOf(rejudgeRun(report, evidence, cliMessages), evidence);
}

/** `report.json` stands for the folder that it is in. */
const folderOf = (path: string): string =>
  basename(path) === "report.json" && statSync(path, { throwIfNoEntry: false })?.isFile() === true
    ? dirname(path)
    : path;
