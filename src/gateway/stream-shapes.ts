import { isObject } from "../base/json.ts";
import type { StreamShape, Trouble } from "./trouble.ts";

const plainFrame = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

const plainShape: StreamShape = { frame: plainFrame, pauseMs: 0, ending: { kind: "all" } };

/** Makes a frame function that changes the JSON object of each event. */
const editEventData =
  (edit: (name: string, data: Readonly<Record<string, unknown>>) => object): StreamShape["frame"] =>
  (name, text) => {
    const data: unknown = JSON.parse(text);
    return plainFrame(name, isObject(data) ? JSON.stringify(edit(name, data)) : text);
  };

/** Puts two events with undocumented names before each event, one of them without data. */
const addUnknownEvents: StreamShape["frame"] = (name, data, number) =>
  `event: progress\ndata: {"percent":${number}}\n\nevent: keep-alive\n\n${plainFrame(name, data)}`;

const setOptionalFieldsToNull = (name: string, data: Readonly<Record<string, unknown>>): object =>
  name === "start" ? { ...data, session_id: null } : name === "chunk" ? { ...data, index: null } : data;

const unknownField = { x_conformance: { list: [1, null], text: "a field that the document does not list" } };

const openStreamHoldMs = 3000;
const eventPauseMs = 400;

/** The shapes of streams by the name of their trouble. */
export const streamTroubles = {
  "slow-stream": { ...plainShape, pauseMs: eventPauseMs },
  "stream-error": {
    ...plainShape,
    ending: { kind: "error", after: 2, data: { error: "The agent failed.", code: "STREAM_ERROR" } },
  },
  "stream-cut": { ...plainShape, ending: { kind: "cut", after: 2 } },
  "stream-open": { ...plainShape, ending: { kind: "open", holdMs: openStreamHoldMs } },
  crlf: { ...plainShape, frame: (name, data) => `event: ${name}\r\ndata: ${data}\r\n\r\n` },
  comments: {
    ...plainShape,
    frame: (name, data, number) =>
      `: keep-alive\n\n:\nid: ${number}\nretry: 3000\nevent: ${name}\ndata: ${data}\n\n: end of an event\n\n`,
  },
  "multi-line": {
    ...plainShape,
    frame: (name, data) => `event: ${name}\n${JSON.stringify(JSON.parse(data), null, 1).replace(/^/gm, "data: ")}\n\n`,
  },
  "unknown-fields": { ...plainShape, frame: editEventData((_, data) => ({ ...unknownField, ...data })) },
  "unknown-events": { ...plainShape, frame: addUnknownEvents },
  "null-fields": { ...plainShape, frame: editEventData(setOptionalFieldsToNull) },
} as const satisfies Readonly<Record<string, StreamShape>>;

/** Returns the trouble of a stream that ends after one event, with an `error` event that has `retry_after`. */
export const overloadedStream = (retryAfterSeconds: number): Trouble => ({
  name: "stream-overload",
  kind: "stream",
  shape: {
    ...plainShape,
    ending: {
      kind: "error",
      after: 1,
      data: { error: "The model is overloaded.", code: "CAPACITY_ERROR", retry_after: retryAfterSeconds },
    },
  },
});

const optionalFields = ["usage", "metadata", "version", "uptime", "last_request"] as const;

/**
 * Changes of a JSON response by the name of their trouble. Both are legal: undocumented fields, and `null` for optional
 * fields.
 */
export const jsonEdits = {
  "unknown-fields": (value: unknown): unknown => (isObject(value) ? { ...unknownField, ...value } : value),
  "null-fields": (value: unknown): unknown =>
    isObject(value)
      ? { ...value, ...Object.fromEntries(optionalFields.filter((name) => name in value).map((name) => [name, null])) }
      : value,
} as const;
