import { errorCodeOrText } from "../../base/errors.ts";
import { NotARegularFile, readRegularFile } from "../../base/files/read-regular-file.ts";
import { line } from "../../base/line.ts";
import { notationOf, parseSource, type Source } from "../../base/source/source.ts";
import { UsageError } from "../../base/usage-error.ts";

/** A parsed agent configuration file. `name` is the path as the user gave it. */
export interface ConfigurationFile {
  readonly name: string;
  readonly source: Source;
}

/**
 * Reads an agent configuration file: JSON or YAML, depending on the file name's ending.
 *
 * @throws {UsageError} if it cannot be read or parsed; the message of a syntax error names its line and column
 */
export function readConfiguration(name: string): ConfigurationFile {
  const notation = notationOf(name);
  if (notation === null)
    throw new UsageError(line`${name} ends in none of .json, .yaml and .yml, so its notation is not known.`);
  const source = parseSource(readText(name), notation);
  if (source.kind === "value") return { name, source };
  const { place, problem } = source;
  throw new UsageError(line`${name}:${place.line}:${place.column}: the file ${problem}.`);
}

/** Maximum size of a configuration file. A larger one is a usage error. */
const maxConfigurationBytes = 1024 * 1024;

function readText(name: string): string {
  try {
    const text = readRegularFile(name, maxConfigurationBytes + 1);
    if (Buffer.byteLength(text) <= maxConfigurationBytes) return text;
  } catch (error) {
    const reason = error instanceof NotARegularFile ? "not a regular file" : errorCodeOrText(error);
    throw new UsageError(line`The configuration file cannot be read: ${name} (${reason}).`);
  }
  throw new UsageError(line`The configuration file ${name} exceeds 1 MiB.`);
}
