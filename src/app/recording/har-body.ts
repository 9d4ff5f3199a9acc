import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";

import { getPath } from "../../base/json.ts";
import { messageOf } from "../../base/errors.ts";
import { type Answered, type Body, type Header, headerValue } from "../../evidence/exchange.ts";
import { recordBody } from "../../wire/record-body.ts";
import type { MissingPart } from "./recording.ts";

export function stringAt(value: unknown, ...path: readonly string[]): string {
  const found = getPath(value, ...path);
  return typeof found === "string" ? found : "";
}

/** A body from an HTTP archive (HAR). `gap` says which part of the body is missing; `null` if the body is complete. */
export interface HarBody {
  readonly body: Body;
  readonly bytes: Buffer;
  readonly gap: Extract<MissingPart, "no body" | "cut body"> | null;
}

export const unrecordedBody = (bytes: number): Body => ({ kind: "cut", head: "", tail: "", bytes, sha256: "" });

/** Reads the body of a recorded response. It counts as complete unless the recording shows that it is missing or cut. */
export function readResponseBody(content: unknown, status: number, headers: readonly Header[]): HarBody {
  const raw = bytesOf(content);
  const declared = wholeNumber(headerValue(headers, "content-length"));
  if (raw === null || raw.length === 0)
    return status === 204 || declared === 0 ? noBody : missingBody(numberAt(content, "size") ?? declared ?? 0);
  const bytes = decompressBody(raw, headers);
  if (bytes === null) return cutBody(raw, raw.length);
  const isEncoded = headerValue(headers, "content-encoding") !== undefined;
  const expected = Math.max(numberAt(content, "size") ?? 0, isEncoded ? 0 : (declared ?? 0));
  const isShort = expected > Math.max(bytes.length, raw.length) || isMarkedCut(content);
  const isKnownWhole = !isEncoded && declared === bytes.length;
  return isShort || (!isKnownWhole && endsWithinJson(bytes, headers)) ? cutBody(bytes, expected) : wholeBody(bytes);
}

export const isStream = (headers: readonly Header[]): boolean =>
  /^\s*text\/event-stream\b/i.test(headerValue(headers, "content-type") ?? "");

export const streamBounds = { events: 20_000, eventChars: 512 * 1024 };

export function readRequestBody(request: unknown, headers: readonly Header[]): HarBody {
  const raw = bytesOf(getPath(request, "postData"));
  const declared = wholeNumber(headerValue(headers, "content-length"));
  const size = Math.max(numberAt(request, "bodySize") ?? 0, declared ?? 0);
  if (raw === null || raw.length === 0) {
    const isEmpty = size === 0 && (declared === 0 || getPath(request, "bodySize") === 0 || !mayHaveBody(request));
    return isEmpty ? noBody : missingBody(size);
  }
  return declared !== undefined && declared > raw.length ? cutBody(raw, declared) : wholeBody(raw);
}

const mayHaveBody = (request: unknown): boolean => !["GET", "HEAD"].includes(stringAt(request, "method"));

const noBody: HarBody = { body: { kind: "none" }, bytes: Buffer.alloc(0), gap: null };

const missingBody = (bytes: number): HarBody => ({
  body: unrecordedBody(Math.max(0, bytes)),
  bytes: Buffer.alloc(0),
  gap: "no body",
});

const maxCutBodyBytes = 16 * 1024;

const cutBody = (bytes: Buffer, length: number): HarBody => ({
  body: {
    kind: "cut",
    head: bytes.subarray(0, maxCutBodyBytes).toString("utf8"),
    tail: "",
    bytes: Math.max(length, bytes.length),
    sha256: "",
  },
  bytes,
  gap: "cut body",
});

function wholeBody(bytes: Buffer): HarBody {
  const recorder = recordBody();
  recorder.add(bytes);
  return { body: recorder.body(), bytes, gap: null };
}

function bytesOf(content: unknown): Buffer | null {
  const text = getPath(content, "text");
  if (typeof text !== "string") return null;
  const isBase64 = getPath(content, "encoding") === "base64" || getPath(content, "comment") === "base64";
  return Buffer.from(text, isBase64 ? "base64" : "utf8");
}

const isMarkedCut = (content: unknown): boolean =>
  /only the beginning|truncated/i.test(stringAt(content, "comment")) || getPath(content, "_truncated") === true;

/** Decompresses a body, unless the recorder already did so. Returns `null` if the bytes cannot be decompressed. */
export function decompressBody(raw: Buffer, headers: readonly Header[]): Buffer | null {
  const encoding = (headerValue(headers, "content-encoding") ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || isText(raw)) return raw;
  try {
    return decompressors.get(encoding)?.(raw, { maxOutputLength: maxDecompressedBytes }) ?? null;
  } catch {
    return null;
  }
}

const decompressors = new Map<string, (raw: Buffer, bounds: { maxOutputLength: number }) => Buffer>([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["br", brotliDecompressSync],
  ["deflate", inflateSync],
  ["zstd", zstdDecompressSync],
]);
const maxDecompressedBytes = 32 * 1024 * 1024;

function isText(bytes: Buffer): boolean {
  try {
    // oxlint-disable-next-line no-control-regex
    return !/[\u0000-\u0008\u000E-\u001F\uFFFD]/.test(
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, 4096), { stream: true }),
    );
  } catch {
    return false;
  }
}

function endsWithinJson(bytes: Buffer, headers: readonly Header[]): boolean {
  if (!/json/i.test(headerValue(headers, "content-type") ?? "")) return false;
  const text = bytes.toString("utf8");
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const message = messageOf(error);
    const at = /at position (\d+)/.exec(message)?.[1];
    return /^(Unexpected end|Unterminated)/.test(message) || (at !== undefined && Number(at) >= text.trimEnd().length);
  }
}

function numberAt(value: unknown, name: string): number | undefined {
  const found = getPath(value, name);
  return typeof found === "number" && found >= 0 ? found : undefined;
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;

export interface HarTimes {
  readonly sentMs: number;
  readonly headMs: number;
  readonly endMs: number;
  /** Whether the times may be too early: some programs record when a request was queued, not when it was sent. */
  readonly mayBeEarly: boolean;
}

export function readHarTimes(entry: unknown, headers: readonly Header[], creator: string): HarTimes | null {
  const sentMs = Date.parse(stringAt(entry, "startedDateTime"));
  const tookMs = getPath(entry, "time");
  if (Number.isNaN(sentMs) || typeof tookMs !== "number" || !(tookMs >= 0)) return null;
  const blocked = getPath(entry, "timings", "blocked");
  const showsWaiting = typeof blocked === "number" && blocked >= 0;
  const mayBeEarly = !showsWaiting && !recordersOfSendingTime.has(creator);
  if (mayBeEarly && dateHeaderMs(headers) === null) return null;
  const receive = getPath(entry, "timings", "receive");
  const receiveMs = typeof receive === "number" && receive > 0 ? Math.min(receive, tookMs) : 0;
  return { sentMs, headMs: sentMs + tookMs - receiveMs, endMs: sentMs + tookMs, mayBeEarly };
}

/** Programs whose archives show when a request was sent. Other programs may show when the request was queued. */
const recordersOfSendingTime: ReadonlySet<string> = new Set(["mitmproxy", "agent-hosting-conformance"]);

function dateHeaderMs(headers: readonly Header[]): number | null {
  const ms = Date.parse(headerValue(headers, "date") ?? "");
  return Number.isNaN(ms) ? null : ms;
}

/** Precision of a `Date` header. It shows whole seconds, e.g. 10 s for a response at 10.9 s. */
const dateResolutionMs = 1000;

/**
 * Returns the milliseconds to add to each response's times; 0 if the times seem right. The times of some recorders are
 * too early, and the `Date` headers show by how much.
 */
export function responseDelaysMs(answers: readonly { answer: Answered; times: HarTimes | null }[]): number[] {
  const offsets = answers.map(({ answer, times }) => {
    const date = dateHeaderMs(answer.headers);
    return times === null || !times.mayBeEarly || date === null ? null : date - times.headMs;
  });
  const minOffset = offsets.reduce<number>((earliest, offset) => Math.min(earliest, offset ?? Infinity), Infinity);
  return offsets.map((offset) => (offset === null || offset - minOffset <= dateResolutionMs ? 0 : offset - minOffset));
}
