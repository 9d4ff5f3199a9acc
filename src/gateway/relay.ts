import { setTimeout as sleep } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

import { createParser } from "eventsource-parser";
import { Pool } from "undici";

import { tryParseJson } from "../base/json.ts";
import type { Header, Exchange } from "../evidence/exchange.ts";
import { parseRawHeaders, recordBody } from "../wire/record-body.ts";
import type { StreamReshaping } from "./trouble.ts";
import { createStreamParser } from "../wire/read-response.ts";

export interface RelayedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
}

export type Relay = ReturnType<typeof openRelay>;

/**
 * Headers that the relay does not forward. Most concern only one connection (RFC 9110, 7.6.1). The next sender sets
 * `Host` and `Content-Length` itself. undici refuses to send `Expect`.
 */
const unforwardedHeaders =
  /^(host|connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|content-length|expect)$/i;

/** Opens a relay, which passes requests to the reference server and responses back to the client. */
export function openRelay(origin: string) {
  const pool = new Pool(origin, { bodyTimeout: 0, headersTimeout: 0, pipelining: 1 });

  const send = ({ method, path, headers, body }: RelayedRequest, signal: AbortSignal) =>
    pool.request({
      method,
      path,
      // Removes `Accept-Encoding`, so that the server does not compress bodies. The relay can edit only plain bodies.
      headers: headers.filter(([name]) => !unforwardedHeaders.test(name) && !/^accept-encoding$/i.test(name)).flat(),
      ...(body.byteLength === 0 ? {} : { body }),
      responseHeaders: "raw",
      signal,
    });

  const pass = async (request: RelayedRequest, response: OutgoingResponse): Promise<void> => {
    const { statusCode, headers, body } = await send(request, response.closed);
    response.head(statusCode, passedHeaders(headers, request.method === "HEAD"));
    for await (const bytes of body) response.write(bytes as Uint8Array);
    response.end();
  };

  const edit = async (
    request: RelayedRequest,
    response: OutgoingResponse,
    change: (value: unknown) => unknown,
  ): Promise<void> => {
    const { statusCode, headers, body } = await send(request, response.closed);
    const text = await body.text();
    const value = tryParseJson(text);
    const isEdited = statusCode >= 200 && statusCode < 300 && value !== undefined;
    const bytes = Buffer.from(isEdited ? JSON.stringify(change(value)) : text);
    response.head(statusCode, [...passedHeaders(headers), ["Content-Length", String(bytes.byteLength)]]);
    response.end(bytes);
  };

  const reshape = async (
    request: RelayedRequest,
    response: OutgoingResponse,
    shape: StreamReshaping,
  ): Promise<void> => {
    const { statusCode, headers, body } = await send(request, response.closed);
    response.head(statusCode, passedHeaders(headers));
    if (statusCode !== 200) {
      for await (const bytes of body) response.write(bytes as Uint8Array);
      return response.end();
    }
    await writeReshaped(readEvents(body), response, shape);
    body.destroy();
    response.end();
  };

  /** Forwards a request and discards the response: the server acts on the request, but the client gets no response. */
  const run = async (request: RelayedRequest, closed: AbortSignal): Promise<void> => {
    const { body } = await send(request, closed);
    await body.dump();
  };
  return { pass, edit, reshape, run, close: (): Promise<void> => pool.destroy() };
}

/**
 * Returns a response's headers without `unforwardedHeaders`. `Content-Length` is left out because the relay can change
 * the body. Only a response to HEAD keeps it, because it has no body.
 */
const passedHeaders = (raw: unknown, isHead = false): Header[] =>
  parseRawHeaders(raw).filter(
    ([name]) => !unforwardedHeaders.test(name) || (isHead && name.toLowerCase() === "content-length"),
  );

interface StreamedEvent {
  readonly name: string;
  readonly data: string;
}

async function* readEvents(body: AsyncIterable<unknown>): AsyncGenerator<StreamedEvent> {
  const found: StreamedEvent[] = [];
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: ({ event = "message", data }) => found.push({ name: event, data }) });
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
    yield* found.splice(0);
  }
}

/** Maximum number of added pauses in a stream, so that a long stream ends before the client's timeout. */
const maxPauses = 6;

async function writeReshaped(
  events: AsyncIterable<StreamedEvent>,
  response: OutgoingResponse,
  { frame, pauseMs, ending }: StreamReshaping,
): Promise<void> {
  let number = 0;
  for await (const { name, data } of events) {
    if ("after" in ending && number >= ending.after) break;
    if (pauseMs > 0 && number < maxPauses) await pause(pauseMs, response.closed);
    response.write(frame(name, data, number));
    number += 1;
  }
  if (ending.kind === "error") response.write(frame("error", JSON.stringify(ending.data), number));
  if (ending.kind === "open") await pause(ending.holdMs, response.closed);
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});

export interface OutgoingResponse {
  readonly head: (status: number, headers: readonly Header[]) => void;
  readonly write: (bytes: Uint8Array | string) => void;
  readonly end: (last?: Uint8Array | string) => void;
  readonly reset: () => void;
  readonly closed: AbortSignal;
  readonly recorded: () => { readonly answer: Exchange["answer"]; readonly leftMs: number | null };
}

const streamBounds = { events: 20_000, eventChars: 4 * 1024 * 1024 };

const resetByHarness = "the harness reset the connection";

/** Wraps Node's response to the client, and records everything that the gateway sends. */
export function openResponse(response: ServerResponse, now: () => number): OutgoingResponse {
  const closing = new AbortController();
  const body = recordBody();
  let sentHead: { readonly status: number; readonly headers: readonly Header[]; readonly headMs: number } | null = null;
  let events: ReturnType<typeof createStreamParser> | null = null;
  let endMs: number | null = null;
  let leftMs: number | null = null;
  let resetMs: number | null = null;
  response.on("error", () => {});
  response.once("close", () => {
    if (endMs === null && resetMs === null) leftMs = now();
    closing.abort();
  });

  const head = (status: number, headers: readonly Header[]): void => {
    sentHead = { status, headers, headMs: now() };
    if (headers.some(([name, value]) => /^content-type$/i.test(name) && /^text\/event-stream/i.test(value)))
      events = createStreamParser(streamBounds, () => {});
    response.writeHead(status, headers.flat());
    response.flushHeaders();
  };
  const record = (bytes: Uint8Array | string): Uint8Array => {
    const raw = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    body.add(raw);
    events?.add(raw, now());
    return raw;
  };
  const write = (bytes: Uint8Array | string): void => {
    if (!closing.signal.aborted) response.write(record(bytes));
  };
  const end = (last: Uint8Array | string = ""): void => {
    if (closing.signal.aborted) return;
    endMs ??= now();
    const raw = record(last);
    events?.end(endMs);
    response.end(raw);
  };
  const reset = (): void => {
    resetMs = now();
    const { socket } = response;
    if (socket === null || socket instanceof TLSSocket) response.destroy();
    else socket.resetAndDestroy();
  };

  const recorded: OutgoingResponse["recorded"] = () => {
    const lastMs = endMs ?? leftMs ?? resetMs ?? now();
    if (sentHead === null) {
      const detail = resetMs === null ? "the client left before the response" : resetByHarness;
      return { answer: { kind: "unanswered", reason: "broken", detail, endMs: lastMs }, leftMs };
    }
    const ending =
      endMs === null
        ? { kind: "broken" as const, detail: resetMs === null ? "the client left" : resetByHarness }
        : { kind: "complete" as const };
    const answer = { kind: "answered" as const, ...sentHead, endMs: lastMs, body: body.body(), ending };
    return { answer: { ...answer, events: events?.events ?? [] }, leftMs };
  };
  return { head, write, end, reset, closed: closing.signal, recorded };
}
