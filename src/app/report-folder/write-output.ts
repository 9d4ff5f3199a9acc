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

/**
 * The outputs that the user requested from a command. Every file was found to be writable before the command started.
 */
export interface OutputFiles<Name extends string> {
  readonly files: readonly OutputFile<Name>[];
  /** Whether one of the outputs goes to standard output, so that nothing else may be printed there. */
  readonly isStdoutTaken: boolean;
}

/**
 * Writes an output to its file, or prints it. If writing fails, returns a sentence about that as a list of one;
 * otherwise an empty list.
 */
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

/** Prints a text to standard output. If that is a terminal, escapes control characters. */
const printOutput = (text: string): void => void process.stdout.write(process.stdout.isTTY ? sanitizeJson(text) : text);
