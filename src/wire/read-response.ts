import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { createParser } from "eventsource-parser";

import type { Ending, Header, StreamEvent } from "../evidence/exchange.ts";
import type { DeadlineWatch } from "./deadlines.ts";
import { describeBodyEnd } from "./describe-error.ts";
import { recordBody } from "./record-body.ts";

/** Limits for an event stream, because an endless stream would fill the memory. */
interface StreamBounds {
  readonly events: number;
  readonly eventChars: number;
}

/** Maximum length of one event, in characters. The parser reads nothing after a longer event. */
const maxEventChars = 1024 * 1024;

/** Creates a parser of an event stream. It calls `onEvent` after each event, with all events so far. */
export function createStreamParser(bounds: StreamBounds, onEvent: (events: readonly StreamEvent[]) => void) {
  const events: StreamEvent[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let now = 0;
  let chars = 0;
  const excess = (): string | null => {
    if (events.length >= bounds.events) return `more than ${bounds.events} events`;
    return chars > bounds.eventChars ? `more than ${bounds.eventChars} characters of events` : null;
  };
  let usable = true;
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ event, data }) => {
      if (excess() !== null) return;
      chars += data.length;
      events.push({ name: event ?? null, data, atMs: now });
      onEvent(events);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") usable = false;
    },
  });
  const feed = (text: string): void => {
    if (!usable || text === "") return;
    try {
      parser.feed(text);
    } catch {
      usable = false;
    }
  };
  return {
    events,
    excess,
    add: (bytes: Uint8Array, atMs: number): void => {
      now = atMs;
      feed(decoder.decode(bytes, { stream: true }));
    },
    end: (atMs: number): void => {
      now = atMs;
      feed(decoder.decode());
    },
  };
}

export interface ReadBounds extends StreamBounds {
  readonly bodyBytes: number;
  /** Maximum number of chunks of a response body, because even a chunk of one byte costs CPU time. */
  readonly chunks: number;
}

export const defaultReadBounds: ReadBounds = {
  bodyBytes: 32 * 1024 * 1024,
  chunks: 200_000,
  events: 20_000,
  eventChars: 512 * 1024,
};
/** Limits for the later responses of a run, after a response has exceeded the default limits. */
export const strictBounds: ReadBounds = {
  bodyBytes: 2 * 1024 * 1024,
  chunks: 20_000,
  events: 1000,
  eventChars: 64 * 1024,
};

/**
 * Maximum time without an event in a stream, even if SSE comments arrive. The value exceeds an agent's default timeout
 * of 30 s.
 */
const maxEventlessMs = 35_000;

/**
 * Rule for a stream that the server leaves open: the harness closes the stream `ms` after its final event. `isKnown`:
 * the server left an earlier stream open, so this stream ends as `closed by us`, and not as a missed deadline.
 */
export interface StreamClosing {
  readonly isLast: (event: StreamEvent) => boolean;
  readonly ms: number;
  readonly isKnown: boolean;
}

interface BodyReadContext {
  readonly now: () => number;
  readonly watch: DeadlineWatch;
  readonly firstEvent: () => void;
  readonly bounds: ReadBounds;
  readonly exceeded: () => void;
  readonly closeWhen?: (events: readonly StreamEvent[]) => boolean;
  readonly closing?: StreamClosing;
}

export async function readBody(raw: Readable, headers: readonly Header[], reading: BodyReadContext) {
  const { now, watch, bounds } = reading;
  const recorder = recordBody();
  const isStream = headers.some(
    ([name, value]) => name.toLowerCase() === "content-type" && /^\s*text\/event-stream\b/i.test(value),
  );
  let lastEventMs = now();
  const closer = closeAfterLastEvent(reading);
  const stream = createStreamParser(bounds, (events) => {
    lastEventMs = now();
    reading.firstEvent();
    if (reading.closeWhen?.(events) === true) watch.stop("us");
    closer.observe(events.at(-1));
  });
  let ending: Ending = { kind: "complete" };
  try {
    for await (const piece of decompress(raw, headers)) {
      watch.pieceArrived();
      recorder.add(piece as Uint8Array);
      if (isStream) stream.add(piece as Uint8Array, now());
      if (watch.reason() === "us") break;
      const isEventless = isStream && now() - lastEventMs > maxEventlessMs;
      const excess =
        recorder.bytes() > bounds.bodyBytes ? `more than ${bounds.bodyBytes} bytes of body` : stream.excess();
      if (isEventless) watch.stop(`no event for ${maxEventlessMs / 1000} s`);
      if (excess === null || watch.reason() !== null) continue;
      reading.exceeded();
      watch.stop(excess);
    }
  } catch (error) {
    ending = { kind: "broken", detail: describeBodyEnd(error) };
  }
  closer.end();
  const reason = watch.reason();
  if (reason === "us") ending = { kind: "closed by us" };
  else if (reason !== null) ending = { kind: "deadline", detail: reason };
  if (isStream) stream.end(now());
  return { body: recorder.body(), ending, events: stream.events };
}

/** Creates an observer of events that closes the connection `closing.ms` after a stream's final event. */
function closeAfterLastEvent({ watch, closing }: BodyReadContext) {
  let timer: NodeJS.Timeout | null = null;
  return {
    observe: (event: StreamEvent | undefined): void => {
      if (closing === undefined || event === undefined || timer !== null || !closing.isLast(event)) return;
      const why = closing.isKnown ? "us" : `still open ${closing.ms / 1000} s after its last event`;
      timer = setTimeout(() => watch.stop(why), closing.ms);
    },
    end: (): void => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

const decompressors = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

function decompress(raw: Readable, headers: readonly Header[]): Readable {
  const coding = headers.find(([name]) => name.toLowerCase() === "content-encoding")?.[1] ?? "";
  const decoder = decompressors.get(coding.trim().toLowerCase())?.();
  if (decoder === undefined) return raw;
  raw.on("error", (error) => decoder.destroy(error));
  return raw.pipe(decoder);
}
