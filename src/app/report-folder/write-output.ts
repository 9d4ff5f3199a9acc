import { messageOf } from "../../base/errors.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { line, type Line } from "../../base/line.ts";
import { sanitizeJson } from "../../base/sanitize.ts";

/** An output that the user requested, such as an HTML page, and its destination. */
export interface OutputFile<Name extends string> {
  readonly name: Name;
  /** The flag that requested the output, for error messages. */
  readonly flag: string;
  /** Path of the file to write. `null`: standard output. */
  readonly file: string | null;
}

/** The outputs of a command. Each file has been checked to be writable. */
export interface OutputFiles<Name extends string> {
  readonly files: readonly OutputFile<Name>[];
  /** Whether one of the outputs goes to standard output, so that nothing else may be printed there. */
  readonly isStdoutTaken: boolean;
}

/** Writes or prints an output. Returns a list with a sentence if that fails, and an empty list otherwise. */
export function writeOutput<Name extends string>(
  { flag, file }: OutputFile<Name>,
  textOf: () => string | Generator<string>,
): Line[] {
  try {
    const text = textOf();
    if (file === null) print(typeof text === "string" ? text : [...text].join(""));
    else replaceFile(file, text);
    return [];
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : messageOf(error).replace(/\.$/, "");
    return [line`${flag} could not be written${file === null ? "" : `: ${file}`} (${reason}).`];
  }
}

/** Prints a text to standard output. Escapes control characters if that is a terminal. */
const print = (text: string): void => void process.stdout.write(process.stdout.isTTY ? sanitizeJson(text) : text);
