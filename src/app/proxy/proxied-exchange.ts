import type { Answered, Ending, Exchange, Header } from "../../evidence/exchange.ts";
import { isGatewayError } from "../../run/send/retry.ts";
import type { ForwardedEnd, ForwardedExchange, KeptBody } from "../../wire/forward/forwarded-exchange.ts";
import { recordWholeBody } from "../../wire/record-body.ts";
import { readStream } from "../../wire/stream-reader.ts";
import { decompressBody, headerValue, isStream, streamBounds, unrecordedBody } from "../recording/har-body.ts";
import type { LeftOutReason } from "../recording/recording.ts";

export function toExchange(forwarded: ForwardedExchange, id: string): Exchange | LeftOutReason {
  const { method, url, requestHeaders, requestBody, sentMs, head, end, endMs } = forwarded;
  if (end.kind === "no response") return "own response";
  if (method === "OPTIONS") return "options";
  if (head === null) return "unanswered";
  const headers = headerPairs(head.headers);
  if (head.status === 304 || Number(headerValue(headers, "age") ?? 0) > 0) return "cache";
  const bytes = bytesOf(forwarded.responseBody);
  const whole = bytes === null ? null : decompressBody(bytes, headers);
  const answer: Answered = {
    kind: "answered",
    status: head.status,
    headers,
    headMs: head.headMs,
    endMs,
    body: whole === null ? unrecordedBody(forwarded.responseBody.length) : recordWholeBody(whole),
    ending: endingOf(end, bytes === null),
    events: isStream(headers) ? eventsOf(forwarded.responseBody, whole, bytes, endMs) : [],
  };
  if (isGatewayError(answer)) return "gateway";
  const sent = bytesOf(requestBody);
  return {
    id,
    key: null,
    request: {
      method,
      url,
      headers: headerPairs(requestHeaders),
      body: sent === null ? unrecordedBody(requestBody.length) : recordWholeBody(sent),
    },
    sentMs,
    clockMs: 0,
    answer,
  };
}

/** Returns the name and value of each header. Restores UTF-8 values, which Node decodes as Latin-1. */
function headerPairs(raw: readonly string[]): Header[] {
  const pairs: Header[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const value = raw[at + 1] ?? "";
    pairs.push([raw[at] ?? "", /^\p{ASCII}*$/u.test(value) ? value : Buffer.from(value, "latin1").toString("utf8")]);
  }
  return pairs;
}

function bytesOf({ pieces, length }: KeptBody): Buffer | null {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  return bytes.length === length ? bytes : null;
}

function endingOf(end: ForwardedEnd, isCut: boolean): Ending {
  if (end.kind === "broken") return { kind: "broken", detail: end.detail };
  return { kind: end.kind === "complete" && !isCut ? "complete" : "closed by us" };
}

/** Parses the events of an SSE stream. A compressed stream is parsed at its end, so all events get `endMs`. */
function eventsOf({ pieces }: KeptBody, whole: Buffer | null, bytes: Buffer | null, endMs: number): Answered["events"] {
  const stream = readStream(streamBounds, () => {});
  if (whole === null || whole === bytes) for (const piece of pieces) stream.add(piece.bytes, piece.atMs);
  else stream.add(whole, endMs);
  stream.end(endMs);
  return stream.events;
}
