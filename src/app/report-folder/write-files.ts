import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { errorCodeOrText } from "../../base/errors.ts";

/** The text of a file, or a function that yields it in pieces. */
export type FileText = string | (() => Iterable<string>);

/** Writes files into a folder. If that fails, writes into a temporary folder, so that the result of a long run is not lost. */
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
 * Replaces a file atomically: if the process ends early, the old or the new file is complete.
 *
 * @param mode permissions; default: those of any new file
 */
export function replaceFile(file: string, text: string, mode = 0o666): void {
  const written = `${file}.new`;
  // A file left by an earlier process would keep its permissions.
  rmSync(written, { force: true });
  writeFileSync(written, text, { flush: true, mode });
  renameSync(written, file);
}

/** Creates folders one by one: `recursive: true` never returns on a file system that rejects folders, such as /proc. */
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

/** Minimum number of characters in a write: many small writes are slow. */
const minWriteCharacters = 256 * 1024;

/** Writes a file in pieces, without holding all of it in memory. */
export function writePieces(file: string, pieces: Iterable<string>): void {
  const descriptor = openSync(file, "w");
  try {
    let text = "";
    for (const piece of pieces) {
      text += piece;
      if (text.length < minWriteCharacters) continue;
      writeFileSync(descriptor, text);
      text = "";
    }
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}
