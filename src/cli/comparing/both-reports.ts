import { statSync } from "node:fs";
import { basename, dirname } from "node:path";

import type { ReportDocument } from "../../report/report.ts";
import { documentOf, readReportAlone } from "../../app/folder/read-document.ts";
import { UsageProblem } from "../../target/problem.ts";
import { judgeAgain } from "../../app/rejudge/judge-again.ts";
import { cliWording } from "../wording.ts";
import { readKeptRun } from "../../app/folder/kept-run.ts";

/**
 * Reads two kept reports of the same kind.
 *
 * @param isJudgedAgain judge the kept evidence of both by the suites of this version first
 * @throws {UsageProblem}
 */
export function readBoth(
  oldPath: string,
  newPath: string,
  isJudgedAgain: boolean,
): { readonly older: ReportDocument; readonly newer: ReportDocument } {
  const read = isJudgedAgain ? readAgain : readReportAlone;
  const [older, newer] = [read(oldPath), read(newPath)];
  const [was, is] = [kindOf(older), kindOf(newer)];
  if (was !== is)
    throw new UsageProblem(
      `The report ${oldPath} is of ${was}, the report ${newPath} of ${is}. Give two reports of runs, or two of load.`,
    );
  return { older, newer };
}

const kindOf = ({ report }: ReportDocument): string => (report.load === undefined ? "a run" : "load");

/** Evidence is judged as it was kept: secrets of webhooks are taken out only of what is shown. */
function readAgain(path: string): ReportDocument {
  const { report, evidence } = readKeptRun(folderOf(path));
  return documentOf(judgeAgain(report, evidence, cliWording), evidence);
}

/** `report.json` stands for the folder that it is in. */
const folderOf = (path: string): string =>
  basename(path) === "report.json" && statSync(path, { throwIfNoEntry: false })?.isFile() === true
    ? dirname(path)
    : path;
