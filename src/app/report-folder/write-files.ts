import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { errorCodeOrText } from "../../base/errors.ts";

/** A file's text, or what gives it piece by piece, from the beginning each time that it is asked. */
export type FileText = string | (() => Iterable<string>);

/** Writes files into a folder; where that fails at the end of a run, into a temporary one, so that nothing is lost. */
export function writeFiles(
  folder: string,
  files: Readonly<Record<string, FileText>>,
): { readonly folder: string; readonly problem: string | null } {
  try {
    writeAll(folder, files);
    return { folder, problem: null };
  } catch (error) {
    const other = mkdtempSync(join(tmpdir(), "conformance-"));
    writeAll(other, files);
    return {
      folder: other,
      problem: `${folder} could not be written (${errorCodeOrText(error)}); the report is in ${other}.`,
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

/** Folder by folder: Node's own recursive way never returns where the parent is a file system that takes no folders. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path);
}

function writeAll(folder: string, files: Readonly<Record<string, FileText>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    makeFolder(dirname(file));
    if (typeof text === "string") writeFileSync(file, text);
    else writePieces(file, text());
  }
}

/** Pieces are gathered to so many characters, since each write takes its time. */
const gathered = 256 * 1024;

/** Writes a file that is longer than one would hold at once. */
export function writePieces(file: string, pieces: Iterable<string>): void {
  const descriptor = openSync(file, "w");
  try {
    let text = "";
    for (const piece of pieces) {
      text += piece;
      if (text.length < gathered) continue;
      writeFileSync(descriptor, text);
      text = "";
    }
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}
