import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

import { makeFolder, writePieces } from "../app/report-folder/write-files.ts";
import { errorCodeOrText, messageOf } from "../base/errors.ts";
import { line, type Line } from "../base/line.ts";
import { sanitizeJson } from "../base/sanitize.ts";
import { UsageError } from "../base/usage-error.ts";
import { flagOf } from "./option-parsers.ts";

/** A text that a flag asks for, and its destination. */
export interface OutputFile<Name extends string> {
  readonly name: Name;
  readonly flag: string;
  /** `null`: standard output. */
  readonly file: string | null;
}

/** Outputs of a command. Every file was checked to be writable. */
export interface OutputFiles<Name extends string> {
  readonly files: readonly OutputFile<Name>[];
  /** Whether an output goes to standard output, so that nothing else may be printed there. */
  readonly isStdoutTaken: boolean;
}

/**
 * Checks that every text has a writable file of its own, before there is anything to write.
 *
 * @param names of flags, in the order in which the texts are written
 * @param flags paths by name; `-` is standard output
 * @throws {UsageError}
 */
export function prepareFiles<Name extends string>(
  names: readonly Name[],
  flags: { readonly [name in Name]?: string },
): OutputFiles<Name> {
  const requested = names.flatMap((name) => {
    const path = flags[name];
    return path === undefined ? [] : [{ name, flag: flagOf(name), path }];
  });
  const printed = requested.filter(({ path }) => path === "-").map(({ flag }) => flag);
  if (printed.length > 1)
    throw new UsageError(line`${printed.join(" and ")} cannot both be printed: give all but one a file.`);
  const files = requested.map(({ name, flag, path }) => ({
    name,
    flag,
    file: path === "-" ? null : prepareFile(path, flag),
  }));
  for (const [, sharing] of Map.groupBy(files, ({ flag, file }) => (file === null ? flag : identityOf(file))))
    if (sharing.length > 1)
      throw new UsageError(
        line`${sharing.map(({ flag }) => flag).join(" and ")} name the same file: ${sharing[0]?.file ?? ""}. Give each its own.`,
      );
  return { files, isStdoutTaken: printed.length > 0 };
}

/** Identifies a file: two paths are the same file if one is a link. */
function identityOf(file: string): string {
  const { dev, ino } = statSync(file);
  return `${dev}:${ino}`;
}

/** Writes or prints a text. Returns a line with the problem if the text cannot be made or written. */
export function writeOutput<Name extends string>(
  { flag, file }: OutputFile<Name>,
  textOf: () => string | Generator<string>,
): Line[] {
  try {
    const text = textOf();
    if (file === null) print(typeof text === "string" ? text : [...text].join(""));
    else if (typeof text === "string") writeFileSync(file, text);
    else writePieces(file, text);
    return [];
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : messageOf(error).replace(/\.$/, "");
    return [line`${flag} could not be written${file === null ? "" : `: ${file}`} (${reason}).`];
  }
}

/** Prints a format. A pipe gets every byte. A terminal gets escapes in place of control characters. */
const print = (text: string): void => void process.stdout.write(process.stdout.isTTY ? sanitizeJson(text) : text);

/**
 * Checks, before anything is sent, that a folder can be written. Creates it if it is missing.
 *
 * @returns its absolute path
 * @throws {UsageError}
 */
export function prepareFolder(folder: string, flag = "--out"): string {
  const path = resolve(folder);
  try {
    makeFolder(path);
    // With a trailing slash, this fails if the path is a file.
    accessSync(`${path}/`, constants.R_OK);
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new UsageError(
      line`The output folder cannot be written: ${path} (${errorCodeOrText(error)}). Give another with ${flag}.`,
    );
  }
  return path;
}

/**
 * Checks, before anything is sent, that a file can be written.
 *
 * @returns its absolute path
 * @throws {UsageError}
 */
export function prepareFile(file: string, flag: string): string {
  const path = resolve(file);
  try {
    makeFolder(dirname(path));
    // Opening and closing a pipe would end it for its reader.
    if (statSync(path, { throwIfNoEntry: false })?.isFIFO() === true) accessSync(path, constants.W_OK);
    else writeFileSync(path, "", { flag: "a" });
  } catch (error) {
    throw new UsageError(line`${flag} cannot be written: ${path} (${errorCodeOrText(error)}).`);
  }
  return path;
}

/** A path as the user would write it: relative if it is below the current folder. */
export function displayPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}
