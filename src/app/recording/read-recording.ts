import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

import { getPath, tryParseJson } from "../../base/json.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { parseJson, parseAs } from "../../base/parsing.ts";
import { readEvidence } from "../../report/model/report-file.ts";
import { isHar, readHar } from "./read-har.ts";
import { stringAt } from "./har-body.ts";
import { type Recording, type LeftOutReason, type RecordedExchange, countEach, shiftExchange } from "./recording.ts";
import { type Exchange, exchangeSchema, headerValues } from "../../evidence/exchange.ts";
import { isLostWithTarget } from "../../run/send/retry.ts";

/** Maximum size of a file of recorded traffic. The parsed JSON may need several times as much memory. */
const maxRecordingBytes = 200 * 1024 * 1024;

type RecordedFile = { readonly kind: "traffic"; readonly recording: Recording } | { readonly kind: "load" };

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
    return {
      kind: "traffic",
      recording: toRecording(readEvidence(text, file).exchanges, "evidence.json of this harness"),
    };
  if (getPath(json.value, "request") !== undefined && getPath(json.value, "answer") !== undefined)
    return { kind: "traffic", recording: readExchangeLines(JSON.stringify(json.value), file) };
  throw new UsageError(line`${file} has no traffic that this version can read. ${acceptedFormats}`);
}

const acceptedFormats = "Give a HAR, a folder of a report, evidence.json, or JSON lines of its exchanges.";

function readBounded(file: string): string {
  let handle: number | null = null;
  try {
    // O_NONBLOCK, because opening a named pipe would otherwise wait for a process that writes to it.
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

export function readExchangeLines(text: string, file: string): Recording {
  const exchanges = text.split("\n").flatMap((each, at): Exchange[] => {
    if (each.trim() === "") return [];
    const json = tryParseJson(each);
    const parsed = json === undefined ? null : parseAs(json, exchangeSchema);
    if (parsed?.kind === "value") return [parsed.value];
    const problem = parsed === null ? "is not JSON" : `is no exchange: ${parsed.problem}`;
    throw new UsageError(
      line`${file}, line ${at + 1} ${problem}. Give a HAR, evidence.json, or lines of its exchanges.`,
    );
  });
  return toRecording(exchanges, "JSON lines of exchanges");
}

function toRecording(exchanges: readonly Exchange[], format: string): Recording {
  const sorted = exchanges.toSorted((one, other) => one.sentMs - other.sentMs);
  const startMs = recordingStartMs(sorted);
  const read = sorted.map((each) => toRecordedExchange(each, startMs ?? 0));
  return {
    format,
    exchanges: read.filter((each) => typeof each !== "string"),
    leftOut: countEach(read.filter((each) => typeof each === "string")),
    facts: { times: true, eventTimes: true, clock: startMs !== null },
  };
}

function toRecordedExchange(exchange: Exchange, startMs: number): RecordedExchange | LeftOutReason {
  const { answer, request } = exchange;
  if (request.method === "OPTIONS") return "options";
  if (isLostWithTarget(exchange)) return "gateway";
  if (answer.kind === "unanswered") return "unanswered";
  if (answer.status === 304) return "cache";
  const isCut = answer.body.kind === "cut" && answer.body.sha256 === "";
  const { since: _since, ...kept } = exchange;
  return { exchange: shiftExchange(kept, startMs), gaps: isCut ? ["no body"] : [] };
}

/**
 * Estimates the recording's start (Unix ms) from `Date` headers. `Date` omits milliseconds, so the latest estimate is
 * the closest. Returns `null` without a `Date` header.
 */
function recordingStartMs(exchanges: readonly Exchange[]): number | null {
  const starts = exchanges.flatMap((each) => {
    const date = Date.parse(headerValues(each, "Date")[0] ?? "");
    return Number.isNaN(date) || each.answer.kind !== "answered" ? [] : [date - each.answer.headMs - each.clockMs];
  });
  return starts.length === 0 ? null : starts.reduce((latest, start) => Math.max(latest, start), -Infinity);
}
