import { createParser } from "eventsource-parser";

import type { StreamEvent } from "../evidence/exchange.ts";

/** What is kept of one stream, which is read no further: a target that never ends must not fill the memory. */
export interface StreamBounds {
  readonly events: number;
  /** Of the data of all events together. */
  readonly eventChars: number;
}

/** A single event's size, above which the rest of the stream is no longer parsed. */
const longestEventChars = 1024 * 1024;

/** Parses the text of an event stream, whatever the pieces it comes in. */
export interface StreamReader {
  readonly add: (bytes: Uint8Array, atMs: number) => void;
  readonly end: (atMs: number) => void;
  readonly events: readonly StreamEvent[];
  /** What the stream has too much of; `null` where it is within bounds. */
  readonly excess: () => string | null;
}

/** @param onEvent called after each event, with all events so far. */
export function readStream(most: StreamBounds, onEvent: (events: readonly StreamEvent[]) => void): StreamReader {
  const events: StreamEvent[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let now = 0;
  let chars = 0;
  const excess = (): string | null => {
    if (events.length >= most.events) return `more than ${most.events} events`;
    return chars > most.eventChars ? `more than ${most.eventChars} characters of events` : null;
  };
  let usable = true;
  const parser = createParser({
    maxBufferSize: longestEventChars,
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
