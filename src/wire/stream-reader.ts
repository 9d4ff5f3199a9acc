import { createParser } from "eventsource-parser";

import type { StreamEvent } from "../evidence/exchange.ts";

/** Limits for reading an event stream: an endless one would fill the memory. */
export interface StreamBounds {
  readonly events: number;
  /** Maximum length of the data of all events together, in characters. */
  readonly eventChars: number;
}

/** Maximum length of one event, in characters. Parsing stops at a longer event. */
const maxEventChars = 1024 * 1024;

/** Creates a parser of an event stream. After each event, it calls `onEvent` with all events so far. */
export function readStream(bounds: StreamBounds, onEvent: (events: readonly StreamEvent[]) => void) {
  const events: StreamEvent[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let now = 0;
  let chars = 0;
  /** Returns which limit the stream exceeds, as text; `null` if none. */
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
