import type { Header } from "../evidence/exchange.ts";
import { isObject } from "../base/json.ts";
import { rateHeaderOf, type RateHeaderKey, rateHeaderKeys } from "../spec/headers.ts";

/** Errors and unusual responses that test a client: the names that `--trouble` accepts, with descriptions. */
export const troubleDescriptions = {
  "429": "a 429 with `retry_after`, in both forms of the error body",
  "500": "a request that fails three times, first with a 500",
  "502": "a request that fails three times, first with a 502, a page of HTML",
  "503": "a request that fails three times, first with a 503",
  outage: "a request that answers 503 for as long as 20 s",
  reset: "a connection that is reset after the request ran",
  "slow-stream": "a stream that pauses between its events",
  "stream-error": "an `error` event without `retry_after`",
  "stream-overload": "an `error` event with `retry_after`",
  "stream-cut": "a stream that ends without `done` or `error`",
  "stream-open": "a stream that stays open after `done`",
  crlf: "a stream whose lines end in CRLF",
  comments: "comments, `id:` and `retry:` in a stream",
  "multi-line": "`data:` over several lines",
  "unknown-fields": "fields that the document does not list",
  "unknown-events": "events that the document does not list",
  "null-fields": "optional fields that are `null`",
  "small-pages": "pages with fewer agents than `limit` asks for",
} as const;

export type TroubleName = keyof typeof troubleDescriptions;

export interface StreamReshaping {
  readonly frame: (name: string, data: string, number: number) => string;
  /** Milliseconds to wait before each of the first six events. */
  readonly pauseMs: number;
  /**
   * End of the stream. `all`: as the server ends it. `cut`: the response ends early. `error`: an `error` event comes
   * last. `after`: number of events before the cut or the `error` event.
   */
  readonly ending:
    | { readonly kind: "all" }
    | { readonly kind: "cut"; readonly after: number }
    | { readonly kind: "error"; readonly after: number; readonly data: object }
    /** The stream stays open after the last event, until the client disconnects or `holdMs` have passed. */
    | { readonly kind: "open"; readonly holdMs: number };
}

export type Trouble = { readonly name: TroubleName } & (
  | { readonly kind: "refuse"; readonly status: number; readonly headers: readonly Header[]; readonly body: string }
  | { readonly kind: "reset" }
  | { readonly kind: "edit"; readonly edit: (value: unknown) => unknown }
  | { readonly kind: "stream"; readonly shape: StreamReshaping }
  | { readonly kind: "pages"; readonly limit: number }
);

const jsonContentType: Header = ["Content-Type", "application/json"];

function rateLimitHeaders(remaining: number, resetAfter: number): Header[] {
  const reset = Math.ceil(Date.now() / 1000) + resetAfter;
  const numbers: Partial<Record<RateHeaderKey, number>> = { limit: 100, remaining, reset, resetAfter };
  return rateHeaderKeys.map((name) => {
    const { header, value } = rateHeaderOf(name);
    return [header, typeof value === "string" ? String(numbers[name] ?? 0) : value[0]];
  });
}

/** Returns a 429 response. `form` selects one of the two error bodies that the interface document shows. */
export function rateLimitRefusal(form: "a" | "b", retryAfterSeconds: number): Trouble {
  const text = `The rate limit of this key is used up. Retry after ${retryAfterSeconds} s.`;
  const reset_at = new Date(Date.now() + retryAfterSeconds * 1000).toISOString();
  const details = { limit: 100, remaining: 0, reset_at, retry_after: retryAfterSeconds };
  const body =
    form === "a"
      ? { error: { code: "RATE_LIMIT_EXCEEDED", message: text, status: 429, retry_after: retryAfterSeconds } }
      : { status: "error", error: { code: "RATE_LIMITED", message: text, details } };
  const headers = [jsonContentType, ...rateLimitHeaders(0, retryAfterSeconds)];
  return { name: "429", kind: "refuse", status: 429, headers, body: JSON.stringify(body) };
}

/** Returns a 5xx response. A 502 has an HTML body, as gateways send it. */
export function serverFailure(name: TroubleName, status: number): Trouble {
  if (status === 502) {
    const body = "<html><body><h1>502 Bad Gateway</h1></body></html>\n";
    return { name, kind: "refuse", status, headers: [["Content-Type", "text/html"]], body };
  }
  const message = status === 500 ? "The server failed." : "The service is not available.";
  const body =
    status === 500
      ? { error: { code: "INTERNAL_ERROR", message, status } }
      : { status: "error", error: { code: "SERVICE_UNAVAILABLE", message, details: {} } };
  return {
    name,
    kind: "refuse",
    status,
    headers: [jsonContentType, ...rateLimitHeaders(50, 30)],
    body: JSON.stringify(body),
  };
}

const plainFrame = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

const plainShape: StreamReshaping = { frame: plainFrame, pauseMs: 0, ending: { kind: "all" } };

const editEventData =
  (edit: (name: string, data: Readonly<Record<string, unknown>>) => object): StreamReshaping["frame"] =>
  (name, text) => {
    const data: unknown = JSON.parse(text);
    return plainFrame(name, isObject(data) ? JSON.stringify(edit(name, data)) : text);
  };

const addUnknownEvents: StreamReshaping["frame"] = (name, data, number) =>
  `event: progress\ndata: {"percent":${number}}\n\nevent: keep-alive\n\n${plainFrame(name, data)}`;

const setOptionalFieldsToNull = (name: string, data: Readonly<Record<string, unknown>>): object =>
  name === "start" ? { ...data, session_id: null } : name === "chunk" ? { ...data, index: null } : data;

const unknownField = { x_conformance: { list: [1, null], text: "a field that the document does not list" } };

const openStreamHoldMs = 3000;
const eventPauseMs = 400;

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
} as const satisfies Readonly<Record<string, StreamReshaping>>;

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

/** Functions that change the parsed body of a JSON response in legal ways. Each has a name of `troubleDescriptions`. */
export const jsonEdits = {
  "unknown-fields": (value: unknown): unknown => (isObject(value) ? { ...unknownField, ...value } : value),
  "null-fields": (value: unknown): unknown =>
    isObject(value)
      ? { ...value, ...Object.fromEntries(optionalFields.filter((name) => name in value).map((name) => [name, null])) }
      : value,
} as const;
