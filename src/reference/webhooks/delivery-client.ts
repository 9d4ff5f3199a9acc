import { Readable } from "node:stream";
import { Agent, request, type Dispatcher } from "undici";
import type { Header } from "../behaviour/transport.ts";
import type { Clock } from "../clock.ts";
import { RefusedAddressError, type AddressGuard } from "./address-guard.ts";

/** One request to a receiver. */
export interface DeliveryRequest {
  readonly url: string;
  readonly headers: readonly Header[];
  readonly bytes: Uint8Array;
  readonly framing: "length" | "chunked";
  /** Milliseconds on the clock that the receiver has for the head of its answer; `Infinity` for no end. */
  readonly timeoutMs: number;
  /** Whether the body of the answer must have come to its end as well. */
  readonly awaitsBody: boolean;
}

/** What came of it. A silent receiver is told from one that failed at once. */
export type DeliveryOutcome =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "silent"; readonly failure: string }
  | { readonly kind: "failed"; readonly failure: string };

/** Sends requests. Never rejects; follows no redirects. */
export interface DeliveryClient {
  send(sending: DeliveryRequest): Promise<DeliveryOutcome>;
  /** Drops every connection. */
  close(): Promise<void>;
}

/** Longest answer body that is read for the sake of its connection, and how long it may take. */
const mostBodyBytes = 65_536;
const bodyWithinMs = 1000;

/** Real milliseconds for a connection: an abort does not reach one that is being made. */
const connectWithinMs = 3000;

export function deliveryClient(clock: Clock, guard: AddressGuard): DeliveryClient {
  const dispatcher = new Agent({
    connect: { lookup: guard.lookup, timeout: connectWithinMs },
    allowH2: false,
    // The clock alone says when an answer is late.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: (sending) => {
      const refused = guard.addressRefusal(sending.url);
      if (refused !== null) return Promise.resolve({ kind: "failed", failure: refused });
      return exchanged(clock, dispatcher, sending);
    },
    close: () => dispatcher.destroy(),
  };
}

function exchanged(clock: Clock, dispatcher: Dispatcher, sending: DeliveryRequest): Promise<DeliveryOutcome> {
  const { url, headers, bytes, framing, timeoutMs, awaitsBody } = sending;
  const leaving = new AbortController();
  return new Promise((resolve) => {
    const late = () => {
      resolve({ kind: "silent", failure: `no answer within ${timeoutMs / 1000} s` });
      leaving.abort();
    };
    const timer = Number.isFinite(timeoutMs) ? clock.setTimeout(late, timeoutMs) : null;
    request(url, {
      method: "POST",
      headers: headers.flat(),
      body: framing === "length" ? bytes : Readable.from([bytes]),
      signal: leaving.signal,
      dispatcher,
    })
      .then(async ({ statusCode, body }) => {
        if (awaitsBody) await body.dump({ limit: Number.POSITIVE_INFINITY });
        resolve({ kind: "answered", status: statusCode });
        if (!awaitsBody) drop(clock, body);
      })
      .catch((error: unknown) => resolve({ kind: "failed", failure: failureOf(error) }))
      .finally(() => timer !== null && clock.clearTimeout(timer));
  });
}

/** Reads a short body to its end, so that its connection can serve again; ends the connection of a long one. */
function drop(clock: Clock, body: Readable): void {
  let bytes = 0;
  const timer = clock.setTimeout(() => body.destroy(), bodyWithinMs);
  body.on("error", () => {});
  body.on("close", () => clock.clearTimeout(timer));
  body.on("data", (data: Uint8Array) => {
    bytes += data.length;
    if (bytes > mostBodyBytes) body.destroy();
  });
}

const failures: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed before an answer",
  UND_ERR_CONNECT_TIMEOUT: "no connection came about",
  ENOTFOUND: "the name is not known",
};

function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return "the request failed";
  const cause = error.cause instanceof RefusedAddressError ? error.cause : error;
  const code = "code" in cause ? String(cause.code) : "";
  return failures[code] ?? cause.message;
}
