import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { XMLValidator } from "fast-xml-parser";

import { readReportDocument } from "../../../app/report-folder/read-report-document.ts";
import { readHistory } from "../../../app/nightly/history-store.ts";
import { messageOf } from "../../../base/errors.ts";
import { tryParseJson } from "../../../base/json.ts";

/** The texts of all files below a folder, by relative path. */
export type FileTexts = ReadonlyMap<string, string>;

/** Reads every regular file below a folder. */
export function readFiles(folder: string): FileTexts {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return new Map(
    names
      .map((name) => [name, join(folder, name)] as const)
      .filter(([, path]) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
      .map(([name, path]) => [name, readFileSync(path, "utf8")]),
  );
}

/** Matches the names of temporary files and locks, which exist only while a process writes. */
const temporaryFile = /^\.tmp-|^\.conformance-lock\.json$/;

/** Whether a path is that of a temporary file or a lock. */
export const isMomentary = (path: string): boolean => temporaryFile.test(basename(path));

/** Temporary files and locks that a process should have removed before its end. */
export const leftOverFiles = (files: FileTexts): readonly string[] =>
  [...files.keys()].filter((name) => isMomentary(name));

/** Describes each file that a process changed and did not write completely. */
export function incompleteFiles(folder: string, files: FileTexts, before: FileTexts): readonly string[] {
  const changed = [...files].filter(([name, text]) => before.get(name) !== text && !isMomentary(name));
  return [
    ...[...before.keys()].filter((name) => !files.has(name)).map((name) => `${name} is gone`),
    ...changed.flatMap(([name, text]) => {
      const problem = problemOf(join(folder, name), text);
      return problem === null ? [] : [`${name} (${text.length} characters): ${problem}`];
    }),
  ];
}

/** Says why a file is incomplete; `null` if it is complete. */
function problemOf(path: string, text: string): string | null {
  const name = basename(path);
  if (name === "report.json") return problemOfReport(path);
  if (basename(dirname(path)) === "nights") return problemOfNight(path);
  if (/\.(json|har)$/.test(name)) return tryParseJson(text) === undefined ? "not JSON" : null;
  if (/\.(xml|svg)$/.test(name)) return XMLValidator.validate(text) === true ? null : "not XML";
  if (name.endsWith(".html")) return text.trimEnd().endsWith("</html>") ? null : "it has no end";
  return text === "" ? "it is empty" : null;
}

/** Reads a report and its evidence, as commands do. Returns the error message if the report is damaged or contradicts itself. */
function problemOfReport(path: string): string | null {
  try {
    const { report, evidence } = readReportDocument(path);
    const isWhole = report.load !== undefined || evidence !== null;
    return isWhole ? null : "evidence.json is missing";
  } catch (error) {
    return messageOf(error);
  }
}

function problemOfNight(path: string): string | null {
  const { damaged } = readHistory(dirname(dirname(path)));
  return damaged.find(({ file }) => file === path)?.problem ?? null;
}
