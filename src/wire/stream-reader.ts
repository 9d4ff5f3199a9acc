import { createParser } from "eventsource-parser";

import type { StreamEvent } from "../evidence/exchange.ts";

/** Events kept of one stream; a target that never ends must not fill the memory. */
const mostEvents = 20_000;
/** A single event's size, above which the rest of the stream is no longer parsed. */
const longestEventChars = 1024 * 1024;

/** Parses the text of an event stream, whatever the pieces it comes in. */
export interface StreamReader {
  readonly add: (bytes: Uint8Array, atMs: number) => void;
  readonly end: (atMs: number) => void;
  readonly events: readonly StreamEvent[];
}

/** @param onEvent called after each event, with all events so far. */
export function readStream(onEvent: (events: readonly StreamEvent[]) => void): StreamReader {
  const events: StreamEvent[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let now = 0;
  let usable = true;
  const parser = createParser({
    maxBufferSize: longestEventChars,
    onEvent: ({ event, data }) => {
      if (events.length >= mostEvents) return;
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
    add: (bytes, atMs) => {
      now = atMs;
      feed(decoder.decode(bytes, { stream: true }));
    },
    end: (atMs) => {
      now = atMs;
      feed(decoder.decode());
    },
  };
}
