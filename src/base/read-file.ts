import { readFileSync, statSync } from "node:fs";

import { errorCodeOrText } from "./errors.ts";
import { parseHandwrittenJson } from "./parsing.ts";
import { line } from "./line.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Reads a file that the user named.
 *
 * @param what the start of the error message, such as "The baseline"
 * @throws {UsageError} if the file cannot be read
 */
export function readTextFile(path: string, what: string): string {
  try {
    // Refuses devices, some of which have no end. Pipes are read, because a shell passes them as `<(command)`.
    if (!statSync(path).isCharacterDevice()) return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(line`${what} cannot be read: ${path} (${errorCodeOrText(error)}).`);
  }
  throw new UsageError(line`${what} is a device: ${path}. Give a file.`);
}

/**
 * Parses the text of a JSON file that a person wrote.
 *
 * @param path the name of the file in the error message
 * @throws {UsageError} if the text is not JSON
 */
export function parseJsonFile(text: string, path: string): unknown {
  const json = parseHandwrittenJson(text);
  if (json.kind === "value") return json.value;
  throw new UsageError(line`${path} ${json.problem}.`);
}
