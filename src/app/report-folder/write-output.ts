import { messageOf } from "../../base/errors.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { line, type Line } from "../../base/line.ts";
import { sanitizeJson } from "../../base/sanitize.ts";

/** A text that the user asks for, and its destination. */
export interface OutputFile<Name extends string> {
  readonly name: Name;
  /** The option that asks for the text, as messages name it. */
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

/** Writes or prints a text. Returns a line with the problem if the text cannot be made or written. */
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

/** Prints a text. A pipe gets every byte. A terminal gets escapes in place of control characters. */
const print = (text: string): void => void process.stdout.write(process.stdout.isTTY ? sanitizeJson(text) : text);
