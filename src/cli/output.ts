import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { UsageProblem } from "../target/problem.ts";

/**
 * Makes sure, before anything is sent, that a folder can be written.
 *
 * @throws {UsageProblem}
 */
export function prepareFolder(folder: string, flag = "--out"): string {
  const path = resolve(folder);
  try {
    makeFolder(path);
    // A trailing slash makes the system say where a file stands in the way.
    accessSync(`${path}/`, constants.R_OK);
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new UsageProblem(
      `The output folder cannot be written: ${path} (${reasonOf(error)}). Give another with ${flag}.`,
    );
  }
  return path;
}

/**
 * Makes sure, before anything is sent, that a file can be written.
 *
 * @throws {UsageProblem}
 */
export function prepareFile(file: string, flag: string): string {
  const path = resolve(file);
  try {
    makeFolder(dirname(path));
    // To the reader of a pipe, one that was opened and closed has ended.
    if (statSync(path, { throwIfNoEntry: false })?.isFIFO() === true) accessSync(path, constants.W_OK);
    else writeFileSync(path, "", { flag: "a" });
  } catch (error) {
    throw new UsageProblem(`${flag} cannot be written: ${path} (${reasonOf(error)}).`);
  }
  return path;
}

/** Writes files into a folder; where that fails at the end of a run, into a temporary one, so that nothing is lost. */
export function writeFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
): { readonly folder: string; readonly problem: string | null } {
  try {
    writeAll(folder, files);
    return { folder, problem: null };
  } catch (error) {
    const other = mkdtempSync(join(tmpdir(), "conformance-"));
    writeAll(other, files);
    return {
      folder: other,
      problem: `${folder} could not be written (${reasonOf(error)}); the report is in ${other}.`,
    };
  }
}

/**
 * Writes a file so that it is there whole, old or new, however the process ends.
 *
 * @param mode who may read it, as `0o600`; by default as every new file
 */
export function replaceFile(file: string, text: string, mode = 0o666): void {
  const written = `${file}.new`;
  // What an earlier process left behind would keep its mode.
  rmSync(written, { force: true });
  writeFileSync(written, text, { flush: true, mode });
  renameSync(written, file);
}

function writeAll(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    makeFolder(dirname(join(folder, name)));
    writeFileSync(join(folder, name), text);
  }
}

/** Folder by folder: Node's own recursive way never returns where the parent is a file system that takes no folders. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path);
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);
