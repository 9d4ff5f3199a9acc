import { statSync, writeFileSync } from "node:fs";

import { UsageError } from "../base/usage-error.ts";
import { writePieces } from "../app/report-folder/write-files.ts";
import { prepareFile } from "./output.ts";

/** A text that a flag asks for, and where it goes. */
export interface OutputFile<Name extends string> {
  readonly name: Name;
  readonly flag: string;
  /** `null`: standard output. */
  readonly file: string | null;
}

/** What a command writes besides its report; every file has been made sure of. */
export interface OutputFiles<Name extends string> {
  readonly files: readonly OutputFile<Name>[];
  /** Whether one of them takes standard output, so that nothing else may be printed there. */
  readonly isStdoutTaken: boolean;
}

/**
 * Makes sure that every text has a file of its own that can be written, before there is anything to write.
 *
 * @param wanted in the order in which they are written; a `path` of `-` is standard output
 * @throws {UsageError}
 */
export function prepareFiles<Name extends string>(
  wanted: readonly { readonly name: Name; readonly flag: string; readonly path: string }[],
): OutputFiles<Name> {
  const printed = wanted.filter(({ path }) => path === "-").map(({ flag }) => flag);
  if (printed.length > 1)
    throw new UsageError(`${printed.join(" and ")} cannot both be printed: give all but one a file.`);
  const files = wanted.map(({ name, flag, path }) => ({
    name,
    flag,
    file: path === "-" ? null : prepareFile(path, flag),
  }));
  for (const [, sharing] of Map.groupBy(files, ({ flag, file }) => (file === null ? flag : identityOf(file))))
    if (sharing.length > 1)
      throw new UsageError(
        `${sharing.map(({ flag }) => flag).join(" and ")} name the same file: ${sharing[0]?.file}. Give each its own.`,
      );
  return { files, isStdoutTaken: printed.length > 0 };
}

/** Two names, one of them a link, can be the same file. */
function identityOf(file: string): string {
  const { dev, ino } = statSync(file);
  return `${dev}:${ino}`;
}

/** Writes one, whole or piece by piece; gives a line where that fails, or where its text cannot be made. */
export function writeOutput<Name extends string>(
  { flag, file }: OutputFile<Name>,
  textOf: () => string | Generator<string>,
): string[] {
  try {
    const text = textOf();
    if (file === null) process.stdout.write(typeof text === "string" ? text : [...text].join(""));
    else if (typeof text === "string") writeFileSync(file, text);
    else writePieces(file, text);
    return [];
  } catch (error) {
    return [`${flag} could not be written${file === null ? "" : `: ${file}`} (${reasonOf(error)}).`];
  }
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return "code" in error ? String(error.code) : error.message.replace(/\.$/, "");
};
