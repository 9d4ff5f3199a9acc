import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

import type { Exchange, Header } from "../evidence/exchange.ts";
import { recordBody } from "../wire/record-body.ts";
import { readStream } from "../wire/stream-reader.ts";

/** A response that is being sent to a client, and recorded. */
export interface OutgoingResponse {
  readonly head: (status: number, headers: readonly Header[]) => void;
  readonly write: (bytes: Uint8Array | string) => void;
  /** Sends the last bytes and ends the response. Takes the time of the end just before it writes them. */
  readonly end: (last?: Uint8Array | string) => void;
  /** Resets the connection without sending another byte. */
  readonly reset: () => void;
  /** Aborts when the client disconnects, or the response has ended. */
  readonly closed: AbortSignal;
  /**
   * Returns the response as it was sent so far, and when the client disconnected before its end; `null` if it did not.
   */
  readonly recorded: () => { readonly answer: Exchange["answer"]; readonly leftMs: number | null };
}

/** Up to these bounds, the events of a stream are recorded one by one. */
const streamBounds = { events: 20_000, eventChars: 4 * 1024 * 1024 };

const resetByHarness = "the harness reset the connection";

/** Wraps the response to a client's request, and records it. `now` returns milliseconds since the start of the run. */
export function openResponse(response: ServerResponse, now: () => number): OutgoingResponse {
  const closing = new AbortController();
  const body = recordBody();
  let sentHead: { readonly status: number; readonly headers: readonly Header[]; readonly headMs: number } | null = null;
  let events: ReturnType<typeof readStream> | null = null;
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
      events = readStream(streamBounds, () => {});
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

  const recorded = (): ReturnType<OutgoingResponse["recorded"]> => {
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
