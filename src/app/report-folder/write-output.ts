import { messageOf } from "../../base/errors.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { line, type Line } from "../../base/line.ts";
import { sanitizeJson } from "../../base/sanitize.ts";

/** An output that the user requested, and its destination. */
export interface OutputFile<Name extends string> {
  readonly name: Name;
  /** The flag that requested the output, for messages. */
  readonly flag: string;
  /** `null` stands for standard output. */
  readonly file: string | null;
}

/** The outputs of a command. Each file has been checked to be writable. */
export interface OutputFiles<Name extends string> {
  readonly files: readonly OutputFile<Name>[];
  /** Whether an output goes to standard output, so that nothing else may be printed there. */
  readonly isStdoutTaken: boolean;
}

/** Writes or prints a text. Returns a sentence if the text cannot be made or written; otherwise an empty list. */
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

/** Prints a text. A pipe gets the text unchanged. A terminal gets escapes in place of control characters. */
const print = (text: string): void => void process.stdout.write(process.stdout.isTTY ? sanitizeJson(text) : text);
