import {
  lstatSync,
  readlinkSync,
  realpathSync,
  statSync,
  existsSync,
  mkdirSync,
  accessSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  rmSync,
} from "node:fs";
import { dirname, resolve, join } from "node:path";

import { sweepTemporaryFiles, temporaryName } from "./file-names.ts";

/** Maximum number of symbolic links to follow in one path. Linux has the same limit. */
const maxLinks = 40;

/** Follows symbolic links. Returns the file that they lead to, even if that file does not exist yet. */
export function followLinks(file: string, depth = 0): string {
  const path = resolve(file);
  const stats = statSync(path, { throwIfNoEntry: false });
  // Links in /proc/self/fd lead to pipes and sockets. These have no real path, so the given path is kept.
  if (stats !== undefined) return stats.isFile() ? realpathSync(path) : path;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  if (depth > maxLinks) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
  return followLinks(resolve(dirname(path), readlinkSync(path)), depth + 1);
}

/** Creates a folder and its parents. `mkdirSync` with `recursive: true` would never return on /proc. */
export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created the folder at the same time.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/**
 * Checks that a file could be written, without changing it. Creates its folder if missing.
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
  // Writing creates or replaces a regular file, so its folder must be writable. No pipe is opened here, because closing
  // a pipe would end its reader's input.
  if (stats === undefined || stats.isFile()) checkFolderWritable(dirname(place));
}

export function checkFolderWritable(folder: string): void {
  sweepTemporaryFiles(folder);
  const draft = join(folder, temporaryName());
  closeSync(openSync(draft, "wx"));
  rmSync(draft);
}

export function descriptorOf(file: string): number | null {
  const [, name, number] = /^\/dev\/(?:(stdout|stderr)|fd\/(\d+))$/.exec(resolve(file)) ?? [];
  if (name !== undefined) return name === "stdout" ? 1 : 2;
  return number === undefined ? null : Number(number);
}
