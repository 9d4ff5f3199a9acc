import type { Header } from "../evidence/exchange.ts";
import { headerNames } from "../spec/headers.ts";

/** Every trouble that the harness can make, and what it is. `--trouble` selects by these names. */
export const troubleNames = {
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

export type TroubleName = keyof typeof troubleNames;

/** How a stream is changed. The functions get the data of an event as the reference server sent it. */
export interface StreamShape {
  /** Returns the bytes of one event. */
  readonly frame: (name: string, data: string, number: number) => string;
  /** Milliseconds to wait before each of the first events. */
  readonly pauseMs: number;
  /** The rest of the stream after the first events. `all` sends every event of the server. */
  readonly ending:
    | { readonly kind: "all" }
    | { readonly kind: "cut"; readonly after: number }
    | { readonly kind: "error"; readonly after: number; readonly data: object }
    /** Stays open after the last event, until the client leaves or this time is over. */
    | { readonly kind: "open"; readonly holdMs: number };
}

/** A change that the harness makes to one response. */
export type Trouble = { readonly name: TroubleName } & (
  | { readonly kind: "refuse"; readonly status: number; readonly headers: readonly Header[]; readonly body: string }
  | { readonly kind: "reset" }
  | { readonly kind: "edit"; readonly edit: (value: unknown) => unknown }
  | { readonly kind: "stream"; readonly shape: StreamShape }
  | { readonly kind: "pages"; readonly limit: number }
);

const json: Header = ["Content-Type", "application/json"];

/** The rate-limit headers of a key whose window is used up, or has room. Times are whole seconds, rounded up. */
const rateHeaders = (remaining: number, resetSeconds: number): Header[] => [
  [headerNames.rateLimit, "100"],
  [headerNames.rateRemaining, String(remaining)],
  [headerNames.rateReset, String(Math.ceil(Date.now() / 1000) + resetSeconds)],
  [headerNames.rateResetAfter, String(resetSeconds)],
];

/** A 429 in form A or B of the error body. */
export function rateLimitRefusal(form: "a" | "b", retryAfterSeconds: number): Trouble {
  const text = `The rate limit of this key is used up. Retry after ${retryAfterSeconds} s.`;
  const reset_at = new Date(Date.now() + retryAfterSeconds * 1000).toISOString();
  const details = { limit: 100, remaining: 0, reset_at, retry_after: retryAfterSeconds };
  const body =
    form === "a"
      ? { error: { code: "RATE_LIMIT_EXCEEDED", message: text, status: 429, retry_after: retryAfterSeconds } }
      : { status: "error", error: { code: "RATE_LIMITED", message: text, details } };
  const headers = [json, ...rateHeaders(0, retryAfterSeconds)];
  return { name: "429", kind: "refuse", status: 429, headers, body: JSON.stringify(body) };
}

/** A failure with a 5xx status. A 502 is a page of a gateway, the others are error bodies. */
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
  return { name, kind: "refuse", status, headers: [json, ...rateHeaders(50, 30)], body: JSON.stringify(body) };
}
