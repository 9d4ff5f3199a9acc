import {
  type Answered,
  type Ending,
  type Exchange,
  type Header,
  headerValue,
  headerValues,
} from "../../evidence/exchange.ts";
import { isGatewayError } from "../../run/send/retry.ts";
import type { ForwardingEnd, ForwardedExchange, KeptBody } from "../../wire/forward/forwarded-exchange.ts";
import { parseRawHeaders, recordWholeBody } from "../../wire/record-body.ts";
import { createStreamParser } from "../../wire/read-response.ts";
import { decompressBody, isStream, streamBounds, unrecordedBody } from "../recording/har-body.ts";
import type { LeftOutReason } from "../recording/recording.ts";
import { secondsHeader } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";

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
const headerPairs = (raw: readonly string[]): Header[] =>
  parseRawHeaders(raw).map(([name, value]) => [
    name,
    /^\p{ASCII}*$/u.test(value) ? value : Buffer.from(value, "latin1").toString("utf8"),
  ]);

function bytesOf({ pieces, length }: KeptBody): Buffer | null {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  return bytes.length === length ? bytes : null;
}

function endingOf(end: ForwardingEnd, isCut: boolean): Ending {
  if (end.kind === "broken") return { kind: "broken", detail: end.detail };
  return { kind: end.kind === "complete" && !isCut ? "complete" : "closed by us" };
}

/** Parses the events of an SSE stream. A compressed stream is parsed at its end, so all its events get the time `endMs`. */
function eventsOf({ pieces }: KeptBody, whole: Buffer | null, bytes: Buffer | null, endMs: number): Answered["events"] {
  const stream = createStreamParser(streamBounds, () => {});
  if (whole === null || whole === bytes) for (const piece of pieces) stream.add(piece.bytes, piece.atMs);
  else stream.add(whole, endMs);
  stream.end(endMs);
  return stream.events;
}

/** Minimum jump of the server's time, relative to real time, that counts as an advance of the server's test clock. */
const minJumpMs = 5000;

/**
 * Detects advances of the server's test clock. `withClock` takes the exchanges in the order of their ends, and sets
 * `clockMs` to the sum of the advances before the request. `count` returns the number of advances.
 */
export function trackClockAdvances() {
  const advances: { readonly noticedMs: number; readonly advancedMs: number }[] = [];
  let firstMs: number | null = null;
  let count = 0;
  const advancedAt = (ms: number): number => advances.findLast(({ noticedMs }) => noticedMs <= ms)?.advancedMs ?? 0;
  return {
    withClock: (exchange: Exchange): Exchange => {
      const date = serverTimeMs(exchange);
      if (date !== null && exchange.answer.kind === "answered") {
        const { headMs } = exchange.answer;
        firstMs ??= date - headMs;
        const advancedMs = date - headMs - firstMs;
        if (advancedMs > (advances.at(-1)?.advancedMs ?? 0) + minJumpMs) {
          advances.push({ noticedMs: headMs, advancedMs });
          count += 1;
        }
        if (advances.length > maxAdvances) advances.shift();
      }
      const clockMs = advancedAt(exchange.sentMs);
      return clockMs === 0 ? exchange : { ...exchange, clockMs };
    },
    count: (): number => count,
  };
}

function serverTimeMs(exchange: Exchange): number | null {
  const date = Date.parse(headerValues(exchange, "Date")[0] ?? "");
  if (!Number.isNaN(date)) return date;
  const [reset, resetAfter] = [headerNames.rateReset, headerNames.rateResetAfter].map((name) =>
    secondsHeader(exchange, name),
  );
  // Accepts only times in seconds. A reset time in milliseconds breaks clause HDR-14, and would look like a clock jump.
  const isUnixSeconds = typeof reset === "number" && reset > 1e9 && reset < 1e10;
  return isUnixSeconds && typeof resetAfter === "number" && resetAfter <= maxWindowSeconds
    ? (reset - resetAfter) * 1000
    : null;
}

const maxWindowSeconds = 3600;

/** Number of clock advances to remember. Older advances matter only to an exchange that lasts for 1,000 advances. */
const maxAdvances = 1000;
