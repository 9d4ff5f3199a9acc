import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

import { getPath } from "../../base/json.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { line } from "../../base/line.ts";
import { parseJson } from "../../base/parsing.ts";
import { UsageError } from "../../base/usage-error.ts";
import { readEvidence, UnreadableFile } from "../../report/model/report-file.ts";
import { readExchangeLines, toRecording } from "./exchange-lines.ts";
import { isHar, readHar } from "./read-har.ts";
import { stringAt } from "./har-body.ts";
import type { Recording } from "./recording.ts";

/**
 * Maximum size of a recorded file. In memory, its text may need twice as much, and its parsed JSON several times as
 * much.
 */
export const maxRecordingBytes = 200 * 1024 * 1024;

/** The content of a recorded file. Load evidence is only recognized here, because another function reads it. */
export type RecordedFile = { readonly kind: "traffic"; readonly recording: Recording } | { readonly kind: "load" };

/**
 * Reads a file with recorded traffic: a HAR, `evidence.json`, or JSON lines of exchanges.
 *
 * @throws {UsageError} if the file cannot be read, is too large, or has another format
 */
export function readRecordedFile(file: string): RecordedFile {
  const text = readBounded(file);
  const hasSeveralLines = /^\s*\{[^\n]*\}\s*\n\s*\{/.test(text);
  return hasSeveralLines ? { kind: "traffic", recording: readExchangeLines(text, file) } : readWhole(text, file);
}

function readWhole(text: string, file: string): RecordedFile {
  const json = parseJson(text);
  if (json.kind === "problem") throw new UsageError(line`${file} ${json.problem}. ${acceptedFormats}`);
  if (isHar(json.value)) return { kind: "traffic", recording: readHar(json.value) };
  const format = stringAt(json.value, "format");
  if (format.startsWith("agent-hosting-conformance/load-evidence/")) return { kind: "load" };
  if (format.startsWith("agent-hosting-conformance/evidence/"))
    return { kind: "traffic", recording: toRecording(evidenceOf(text, file), "evidence.json of this harness") };
  if (getPath(json.value, "request") !== undefined && getPath(json.value, "answer") !== undefined)
    return { kind: "traffic", recording: readExchangeLines(JSON.stringify(json.value), file) };
  throw new UsageError(line`${file} has no traffic that this version can read. ${acceptedFormats}`);
}

const acceptedFormats = "Give a HAR, a folder of a report, evidence.json, or JSON lines of its exchanges.";

function evidenceOf(text: string, file: string) {
  try {
    return readEvidence(text, file).exchanges;
  } catch (error) {
    if (error instanceof UnreadableFile) throw new UsageError(line`${error.message}`);
    throw error;
  }
}

function readBounded(file: string): string {
  let handle: number | null = null;
  try {
    // O_NONBLOCK, because opening a named pipe would otherwise wait until another process writes to it.
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw new UsageError(line`${file} is no file. ${acceptedFormats}`);
    if (stats.size > maxRecordingBytes)
      throw new UsageError(
        line`${file} has ${Math.ceil(stats.size / 1024 / 1024)} MiB; at most ${maxRecordingBytes / 1024 / 1024} MiB can be judged. Record less at once, or without bodies.`,
      );
    return readFileSync(handle, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(line`The recording cannot be read: ${file} (${errorCodeOrText(error)}).`);
  } finally {
    if (handle !== null) closeSync(handle);
  }
}
