import { readFileSync, statSync, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

import { errorCodeOrText } from "./errors.ts";
import { line, UsageError } from "./line.ts";
import { parseHandwrittenJson } from "./parsing.ts";

/**
 * Reads a file that the user named. `what` begins the error message, such as "The baseline".
 * @throws {UsageError} if the file cannot be read
 */
export function readTextFile(path: string, what: string): string {
  try {
    // Rejects a character device, because it may never end. Allows a pipe, for the shell's `<(command)`.
    if (!statSync(path).isCharacterDevice()) return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(line`${what} cannot be read: ${path} (${errorCodeOrText(error)}).`);
  }
  throw new UsageError(line`${what} is a device: ${path}. Give a file.`);
}

export function parseJsonFile(text: string, path: string): unknown {
  const json = parseHandwrittenJson(text);
  if (json.kind === "value") return json.value;
  throw new UsageError(line`${path} ${json.problem}.`);
}

export class NotARegularFile extends Error {
  override readonly name = "NotARegularFile";
}

export function readRegularFile(path: string, maxBytes: number): string {
  // Opens with O_NONBLOCK, because opening a pipe would otherwise wait until some process writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new NotARegularFile(path);
    return readUpTo(maxBytes, file);
  } finally {
    closeSync(file);
  }
}

/** Reads up to the file's end or `maxBytes`. Does not trust the file's size, which is 0 in /proc. */
function readUpTo(maxBytes: number, file: number): string {
  const bytes = Buffer.alloc(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const read = readSync(file, bytes, length, maxBytes - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString("utf8", 0, length);
}
