import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { errorCodeOrText, messageOf } from "../../base/errors.ts";
import { line, type Line } from "../../base/line.ts";
import { assertLocked } from "../../base/files/folder-lock.ts";
import { makeFolder } from "../../base/files/output-folders.ts";
import { type StagedFile, stageFile, replaceFile, type FileText } from "../../base/files/replace-file.ts";
import { sanitizeJson } from "../../base/sanitize.ts";

/** Default callback for a file that could not be written: emits `sentence` as a Node warning. */
export const warnOfUnwrittenFiles = (sentence: string): void => process.emitWarning(sentence);

type TextOrPieces = string | (() => Iterable<string>);

export interface WrittenFiles {
  readonly folder: string | null;
  readonly problem: string | null;
}

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

/** Writes temporary files, and renames them at the end. If a temporary file cannot be written, all old files remain. */
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

interface OutputFile<Name extends string> {
  readonly name: Name;
  readonly flag: string;
  readonly file: string | null;
}

export interface OutputFiles<Name extends string> {
  readonly files: readonly OutputFile<Name>[];
  readonly isStdoutTaken: boolean;
}

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
