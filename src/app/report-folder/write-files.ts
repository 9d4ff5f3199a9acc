import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { errorCodeOrText, messageOf } from "../../base/errors.ts";
import { assertLocked } from "../../base/files/folder-lock.ts";
import { makeFolder } from "../../base/files/folders.ts";
import { type StagedFile, stageFile, replaceFile, type FileText } from "../../base/files/replace-file.ts";
import { line, type Line } from "../../base/line.ts";
import { sanitizeJson } from "../../base/sanitize.ts";

/** Emits a Node warning that files could not be written. For callers that give no callback for this case. */
export const warnOfUnwrittenFiles = (sentence: string): void => process.emitWarning(sentence);

/** The content of a file: a text, or a function that returns the text in pieces. */
type TextOrPieces = string | (() => Iterable<string>);

export interface WrittenFiles {
  /** The folder with the files: a temporary one if the requested one failed, `null` if both failed. */
  readonly folder: string | null;
  /** A message to the user if the requested folder could not be written; otherwise `null`. */
  readonly problem: string | null;
}

/** Writes files into a folder, or into a temporary one if that fails, to keep the result of a long run. */
export function writeFiles(folder: string, files: Readonly<Record<string, TextOrPieces>>): WrittenFiles {
  try {
    assertLocked(folder);
    writeAndRename(folder, files);
    return { folder, problem: null };
  } catch (error) {
    return writeToTemporaryFolder(`${folder} could not be written (${errorCodeOrText(error)})`, files);
  }
}

function writeToTemporaryFolder(problem: string, files: Readonly<Record<string, TextOrPieces>>): WrittenFiles {
  const names = Object.keys(files).join(", ");
  let folder = "";
  try {
    folder = mkdtempSync(join(tmpdir(), "conformance-"));
    writeAndRename(folder, files);
    return { folder, problem: `${problem}. Instead, this folder holds ${names}: ${folder}` };
  } catch (error) {
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
    return { folder: null, problem: `${problem}, nor could ${tmpdir()} (${errorCodeOrText(error)}). Lost: ${names}` };
  }
}

/** Writes files under temporary names and renames all at the end, because a crash must not mix two runs. */
export function writeAndRename(folder: string, files: Readonly<Record<string, TextOrPieces>>): void {
  const staged: StagedFile[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const file = join(folder, name);
      makeFolder(dirname(file));
      staged.push(stageFile(file, fileTextOf(text)));
    }
    for (const { commit } of staged) commit();
  } finally {
    for (const { discard } of staged) discard();
  }
}

const fileTextOf = (text: TextOrPieces): FileText => (typeof text === "string" ? text : text());

export interface OutputFile<Name extends string> {
  readonly name: Name;
  readonly flag: string;
  /** Path of the file to write; `null` for standard output. */
  readonly file: string | null;
}

/** The output files that the user requested from a command. When the command started, they were writable. */
export interface OutputFiles<Name extends string> {
  readonly files: readonly OutputFile<Name>[];
  readonly isStdoutTaken: boolean;
}

/** Writes an output to its file, or prints it. If that fails, returns a list with a message about it. */
export function writeOutput<Name extends string>(
  { flag, file }: OutputFile<Name>,
  textOf: () => string | Generator<string>,
): Line[] {
  try {
    const text = textOf();
    if (file === null) printOutput(typeof text === "string" ? text : [...text].join(""));
    else replaceFile(file, text);
    return [];
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : messageOf(error).replace(/\.$/, "");
    return [line`${flag} could not be written${file === null ? "" : `: ${file}`} (${reason}).`];
  }
}

const printOutput = (text: string): void => void process.stdout.write(process.stdout.isTTY ? sanitizeJson(text) : text);
