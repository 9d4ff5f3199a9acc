import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { errorCodeOrText } from "../base/errors.ts";
import { makeFolder } from "../app/report-folder/write-files.ts";
import { UsageError } from "../base/usage-error.ts";

/**
 * Makes sure, before anything is sent, that a folder can be written.
 *
 * @throws {UsageError}
 */
export function prepareFolder(folder: string, flag = "--out"): string {
  const path = resolve(folder);
  try {
    makeFolder(path);
    // A trailing slash makes the system say where a file stands in the way.
    accessSync(`${path}/`, constants.R_OK);
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new UsageError(
      `The output folder cannot be written: ${path} (${errorCodeOrText(error)}). Give another with ${flag}.`,
    );
  }
  return path;
}

/**
 * Makes sure, before anything is sent, that a file can be written.
 *
 * @throws {UsageError}
 */
export function prepareFile(file: string, flag: string): string {
  const path = resolve(file);
  try {
    makeFolder(dirname(path));
    // To the reader of a pipe, one that was opened and closed has ended.
    if (statSync(path, { throwIfNoEntry: false })?.isFIFO() === true) accessSync(path, constants.W_OK);
    else writeFileSync(path, "", { flag: "a" });
  } catch (error) {
    throw new UsageError(`${flag} cannot be written: ${path} (${errorCodeOrText(error)}).`);
  }
  return path;
}
