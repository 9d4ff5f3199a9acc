import { getPath, isObject } from "../../base/json.ts";
import { type Answered, type Exchange, type Header, headerValue } from "../../evidence/exchange.ts";
import { isFinalEventName } from "../../rules/streams/streams.ts";
import { isGatewayError } from "../../run/send/retry.ts";
import { createStreamParser } from "../../wire/read-response.ts";
import {
  type HarBody,
  readResponseBody,
  readRequestBody,
  stringAt,
  responseDelaysMs,
  readHarTimes,
  type HarTimes,
  isStream,
  streamBounds,
} from "./har-body.ts";
import { type MissingPart, type LeftOutReason, type RecordedExchange, type Recording, countEach } from "./recording.ts";

export const isHar = (json: unknown): boolean => Array.isArray(getPath(json, "log", "entries"));

/** Reads an HTTP Archive 1.2. Specification: http://www.softwareishard.com/blog/har-12-spec/. */
export function readHar(json: unknown): Recording {
  const entries = getPath(json, "log", "entries") as readonly unknown[];
  const creator = stringAt(json, "log", "creator", "name") || "an unknown program";
  const read = entries.map((entry, at) => parseEntry(entry, at, creator));
  const kept = read.filter((each) => typeof each !== "string");
  const laterBy = responseDelaysMs(kept.map(({ exchange: { answer }, times }) => ({ answer, times })));
  const exchanges = kept.map((each, at) => delayResponse(each, laterBy[at] ?? 0));
  return {
    format: `HAR ${stringAt(json, "log", "version")} by ${creator}`,
    exchanges,
    leftOut: countEach(read.filter((each) => typeof each === "string")),
    facts: { times: kept.every(({ times }) => times !== null), eventTimes: false, clock: true },
  };
}

interface ParsedEntry extends RecordedExchange {
  readonly exchange: Exchange & { readonly answer: Answered };
  readonly times: HarTimes | null;
}

function parseEntry(entry: unknown, at: number, creator: string): ParsedEntry | LeftOutReason {
  const [request, response] = [getPath(entry, "request"), getPath(entry, "response")];
  const [method, url] = [getPath(request, "method"), getPath(request, "url")];
  const status = getPath(response, "status");
  if (typeof method !== "string" || typeof url !== "string" || !URL.canParse(url) || typeof status !== "number")
    return "unreadable";
  if (method.toUpperCase() === "OPTIONS") return "options";
  const headers = headersOf(response);
  if (status < 100 || headers.length === 0) return "unanswered";
  if (!Number.isInteger(status)) return "unreadable";
  if (isCached(entry, status, headers)) return "cache";
  const times = readHarTimes(entry, headers, creator);
  const received = readResponseBody(getPath(response, "content"), status, headers);
  const requestHeaders = headersOf(request);
  const sent = readRequestBody(request, requestHeaders);
  const { ending, events } = endingOf(received, headers, response, times?.endMs ?? assumedDurationMs);
  const answer: Answered = {
    kind: "answered",
    status,
    headers,
    headMs: times?.headMs ?? assumedDurationMs,
    endMs: times?.endMs ?? assumedDurationMs,
    body: received.body,
    ending,
    events,
  };
  if (status === 407 || isGatewayError(answer)) return "gateway";
  const clockMs = getPath(entry, "_clockMs");
  const gaps: (MissingPart | null)[] = [
    received.gap,
    sent.gap,
    isStream(headers) && ending.kind !== "complete" ? "no end" : null,
    times === null ? "no times" : null,
  ];
  return {
    times,
    gaps: gaps.filter((gap) => gap !== null),
    exchange: {
      id: `x${at + 1}`,
      key: null,
      request: { method, url, headers: requestHeaders, body: sent.body },
      sentMs: times?.sentMs ?? 0,
      clockMs: typeof clockMs === "number" && clockMs > 0 ? clockMs : 0,
      answer,
    },
  };
}

/**
 * Assumed duration of an exchange without recorded times. A day is longer than any `execution_time` that a response
 * reports.
 */
const assumedDurationMs = 86_400_000;

/** Reads headers, without HTTP/2 pseudo-headers. Splits values at line feeds, by which Chromium joins repeated headers. */
function headersOf(message: unknown): Header[] {
  const headers = getPath(message, "headers");
  if (!Array.isArray(headers)) return [];
  return headers.flatMap((each: unknown): Header[] => {
    const [name, value] = [getPath(each, "name"), getPath(each, "value")];
    if (typeof name !== "string" || typeof value !== "string" || name === "" || name.startsWith(":")) return [];
    return value.split("\n").map((part): Header => [name, part]);
  });
}

/** Fields of a HAR entry that say that the response came from a cache or a service worker. */
const cacheFieldNames = [
  "_fromCache",
  "_fromDiskCache",
  "fromDiskCache",
  "_servedFromCache",
  "_fetchedViaServiceWorker",
];

const isCached = (entry: unknown, status: number, headers: readonly Header[]): boolean =>
  status === 304 ||
  Number(headerValue(headers, "age") ?? 0) > 0 ||
  [entry, getPath(entry, "response")].some((part) =>
    cacheFieldNames.some((mark) => isObject(part) && (part[mark] === true || typeof part[mark] === "string")),
  );

function endingOf(
  { bytes, gap }: HarBody,
  headers: readonly Header[],
  response: unknown,
  endMs: number,
): Pick<Answered, "ending" | "events"> {
  const stream = createStreamParser(streamBounds, () => {});
  if (isStream(headers)) {
    stream.add(bytes, endMs);
    stream.end(endMs);
  }
  const isEnded = isStream(headers) ? isFinalEventName(stream.events.at(-1)?.name ?? null) : gap === null;
  const isAborted = ["_error", "_failureText"].some((name) => typeof getPath(response, name) === "string");
  const isClosed = /^(broken|deadline|closed by us)/.test(stringAt(response, "comment"));
  const isWhole = isEnded && gap !== "cut body" && !isAborted && !isClosed;
  return { ending: { kind: isWhole ? "complete" : "closed by us" }, events: stream.events };
}

function delayResponse({ exchange, gaps }: ParsedEntry, laterMs: number): RecordedExchange {
  if (laterMs === 0) return { exchange, gaps };
  const { answer } = exchange;
  const [headMs, endMs] = [answer.headMs + laterMs, answer.endMs + laterMs];
  return { gaps, exchange: { ...exchange, answer: { ...answer, headMs, endMs } } };
}
