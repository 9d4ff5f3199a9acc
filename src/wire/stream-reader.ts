import { createParser } from "eventsource-parser";

import type { StreamEvent } from "../evidence/exchange.ts";

/** Limits for a stream, because an endless stream would fill the memory. */
export interface StreamBounds {
  readonly events: number;
  readonly eventChars: number;
}

/** Maximum length of one event, in characters. Parsing stops at a longer event. */
const maxEventChars = 1024 * 1024;

/** Parses an event stream. After each event, calls `onEvent` with all events so far. */
export function readStream(bounds: StreamBounds, onEvent: (events: readonly StreamEvent[]) => void) {
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
