import { errorCodeOrText } from "../../base/errors.ts";
import { NotARegularFile, readRegularFile } from "../../base/files/read-regular-file.ts";
import { line } from "../../base/line.ts";
import { notationOf, parseSource, type Source } from "../../base/source/source.ts";
import { UsageError } from "../../base/usage-error.ts";

/** An agent configuration file that was read, under the name that the user gave. */
export interface ConfigurationFile {
  readonly name: string;
  readonly source: Source;
}

/**
 * Reads an agent configuration file. The file name's ending decides between JSON and YAML.
 *
 * @throws {UsageError} with one line of text; for a syntax error, it contains the line and the column
 */
export function readConfiguration(name: string): ConfigurationFile {
  const notation = notationOf(name);
  if (notation === null)
    throw new UsageError(line`${name} ends in none of .json, .yaml and .yml, so its notation is not known.`);
  const source = parseSource(textOf(name), notation);
  if (source.kind === "value") return { name, source };
  const { place, problem } = source;
  throw new UsageError(line`${name}:${place.line}:${place.column}: the file ${problem}.`);
}

/** Larger configuration files are refused. */
const maxBytes = 1024 * 1024;

function textOf(name: string): string {
  try {
    const text = readRegularFile(name, maxBytes + 1);
    if (Buffer.byteLength(text) <= maxBytes) return text;
  } catch (error) {
    const reason = error instanceof NotARegularFile ? "not a regular file" : errorCodeOrText(error);
    throw new UsageError(line`The configuration file cannot be read: ${name} (${reason}).`);
  }
  throw new UsageError(line`The configuration file ${name} exceeds 1 MiB.`);
}
