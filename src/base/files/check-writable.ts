import { accessSync, closeSync, constants, fstatSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { followLinks } from "./follow-links.ts";
import { makeFolder } from "./make-folder.ts";
import { sweepTemporaryFiles, temporaryName } from "./temporary-name.ts";
import { descriptorOf } from "./write-text.ts";

/**
 * Checks that a file can be written, without changing it. Creates its folder if the folder is missing, and removes old
 * temporary files from it.
 *
 * @throws Node's own error
 */
export function checkWritable(file: string): void {
  const descriptor = descriptorOf(file);
  if (descriptor !== null) return void fstatSync(descriptor);
  const place = followLinks(file);
  makeFolder(dirname(place));
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) throw Object.assign(new Error("is a folder"), { code: "EISDIR" });
  if (stats !== undefined) accessSync(place, constants.W_OK);
  // A pipe is not tested: opening and closing it would end it for its reader.
  if (stats === undefined || stats.isFile()) checkFolderWritable(dirname(place));
}

/**
 * Checks that files can be created in a folder, by creating one. Access rights alone do not reveal, for example, a
 * read-only file system. Removes old temporary files first.
 *
 * @throws Node's own error
 */
export function checkFolderWritable(folder: string): void {
  sweepTemporaryFiles(folder);
  const draft = join(folder, temporaryName());
  closeSync(openSync(draft, "wx"));
  rmSync(draft);
}
