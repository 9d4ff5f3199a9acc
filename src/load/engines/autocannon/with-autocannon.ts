import { type HarnessLimitError, harnessLimitOf } from "../../../base/harness-limit.ts";
import type { Flow } from "../../scenarios.ts";
import type { Network } from "../../../base/network/network.ts";
import type { LoadSample } from "../../../evidence/load-evidence.ts";
import { epochMs, sampleOfResponse, unansweredSample } from "../../load-sample.ts";
import { type PreparedRequest, prepareRequest, type RequestTarget } from "./request.ts";
import type { Transport } from "../../../wire/transport.ts";
import autocannon, { type CannonClient } from "autocannon";
import type { Header } from "../../../evidence/exchange.ts";

/** Timeout of a response in seconds, longer than an agent's default timeout of 30 seconds. */
const timeoutSeconds = 40;
/** Milliseconds to wait for pending responses after a stop. */
const graceMs = 2000;

/**
 * Whether autocannon can send a flow. autocannon only repeats one request, and reads every response to its end. It does
 * not report when the events of a stream arrive.
 */
export const fitsAutocannon = ({ operation, shape, leaveAfterMs }: Flow): boolean =>
  operation.kind !== "stream" && leaveAfterMs === null && shape.kind !== "after refusal";

interface ResponseHead {
  readonly statusCode: number;
  /** Names and values of the headers in turn: name, value, name, value. */
  readonly headers: readonly string[];
}

interface RequestInFlight {
  readonly sentMs: number;
  /** The previous response on this connection had `Connection: close`, so the server does not read this request. */
  readonly isUnread: boolean;
  head: { readonly status: number; readonly rawHeaders: readonly string[]; readonly headMs: number } | null;
}

interface FlowRecorder {
  readonly record: (sample: LoadSample) => void;
  readonly onHarnessLimit: (limit: HarnessLimitError) => void;
}

export async function sendWithAutocannon(
  flow: Flow,
  request: PreparedRequest,
  { client }: Network,
  signal: AbortSignal,
  recorder: FlowRecorder,
): Promise<void> {
  const { connections, amount } = sizeOf(flow);
  let left = amount;
  while (!signal.aborted && left !== 0) {
    const size = { connections: left === null ? connections : Math.min(connections, left), amount: left };
    // Each pass after the first opens new connections, and sends the requests that the server did not read.
    const unread = await sendOnce(flow, { ...request, ...size, client }, signal, recorder);
    left = amount === null ? 0 : unread;
  }
}

/** Sends the requests. Returns how many of them the server did not read, because it had closed the connection. */
async function sendOnce(
  flow: Flow,
  options: AutocannonOptions,
  signal: AbortSignal,
  recorder: FlowRecorder,
): Promise<number> {
  let unread = 0;
  const run = startAutocannon(
    options,
    createListener(flow, recorder, () => (unread += 1)),
  );
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => {
    run.end();
    grace = setTimeout(run.stop, graceMs);
  };
  signal.addEventListener("abort", stop, { once: true });
  const endTimer = flow.shape.kind === "closed" ? setTimeout(run.end, flow.shape.seconds * 1000) : undefined;
  try {
    await run.done;
    return unread;
  } finally {
    signal.removeEventListener("abort", stop);
    clearTimeout(endTimer);
    clearTimeout(grace);
  }
}

function sizeOf({ shape }: Flow): { readonly connections: number; readonly amount: number | null } {
  switch (shape.kind) {
    case "at once":
      return { connections: shape.requests, amount: shape.requests };
    case "in turn":
      return { connections: 1, amount: shape.requests };
    case "shared":
      return { connections: Math.min(shape.atOnce, shape.requests), amount: shape.requests };
    case "closed":
      return { connections: shape.atOnce, amount: null };
    case "paced":
    case "after refusal":
      throw new Error(`autocannon does not send "${shape.kind}"`);
  }
}

function createListener(
  { name: flow, key, operation: { kind: endpoint } }: Flow,
  { record, onHarnessLimit }: FlowRecorder,
  recordUnread: () => void,
) {
  const underway = new Map<number, RequestInFlight>();
  /** Connections whose last response had `Connection: close`. autocannon may still send one more request on them. */
  const closing = new Set<number>();
  const fail = (connection: number, left: boolean): void => {
    const request = underway.get(connection);
    underway.delete(connection);
    if (request?.isUnread === true) recordUnread();
    else if (request !== undefined)
      record(unansweredSample({ flow, key, sentMs: request.sentMs, endMs: epochMs(), left }));
  };
  return (client: CannonClient, connection: number, body: () => string): void => {
    client.on("request", () => {
      // A request still underway on this connection has failed: autocannon reconnects without reporting the failure.
      fail(connection, false);
      underway.set(connection, { sentMs: epochMs(), isUnread: closing.delete(connection), head: null });
    });
    client.on("headers", ({ statusCode: status, headers: rawHeaders }: ResponseHead) => {
      const request = underway.get(connection);
      if (request !== undefined) request.head = { status, rawHeaders, headMs: epochMs() };
    });
    client.on("response", () => {
      const request = underway.get(connection);
      if (request === undefined || request.head === null) return;
      underway.delete(connection);
      const { status, rawHeaders, headMs } = request.head;
      const { sentMs } = request;
      const headers = headersOf(rawHeaders);
      if (closesConnection(headers)) closing.add(connection);
      const times = { sentMs, headMs, endMs: epochMs() };
      record(sampleOfResponse({ flow, key, endpoint, ...times, status, headers, body: body(), left: false }));
    });
    client.on("connError", (error: Error) => {
      const limit = harnessLimitOf(error);
      if (limit !== null) onHarnessLimit(limit);
    });
    client.on("done", () => fail(connection, true));
  };
}

/** Sends a health request. Returns whether the server keeps the connection open after the response. */
export async function testConnectionReuse(target: RequestTarget, key: string, wire: Transport): Promise<boolean> {
  const request = prepareRequest({ kind: "health", agent: "answering" }, key, target);
  const { answer } = await wire.open({ ...request, headers: Object.entries(request.headers), key: null }).finished;
  if (answer.kind === "unanswered")
    throw new Error(
      `${request.url} does not answer (${answer.detail}): is the target running, and is its base URL right?`,
    );
  return !closesConnection(answer.headers);
}

interface AutocannonOptions extends PreparedRequest {
  readonly connections: number;
  /** Total number of requests; `null` for no limit. */
  readonly amount: number | null;
  readonly client: Network["client"];
}

/** autocannon stops after this many failed connections and timeouts, because the server is probably down. */
const maxErrors = 200;
/** Duration in seconds, longer than any load: `sendOnce` ends a timed flow. autocannon's own default is 10 seconds. */
const endlessSeconds = 1_000_000;

function startAutocannon(options: AutocannonOptions, listen: ReturnType<typeof createListener>) {
  const clients: CannonClient[] = [];
  let body = "";
  const setupClient = (client: CannonClient): void => listen(client, clients.push(client) - 1, () => body);
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const { pathname: path, search } = new URL(options.url);
  const instance = autocannon(
    {
      url: options.url,
      connections: options.connections,
      ...(options.amount === null ? {} : { amount: options.amount }),
      duration: endlessSeconds,
      sampleInt: 20,
      timeout: timeoutSeconds,
      bailout: maxErrors,
      setupClient,
      ...(options.client === null ? {} : { tlsOptions: options.client }),
      requests: [
        {
          method: options.method,
          path: path + search,
          headers: options.headers,
          ...(options.body === null ? {} : { body: options.body }),
          onResponse: (_status, text) => void (body = text),
        },
      ],
    },
    (error) => (error === null ? resolve() : reject(error)),
  );
  return {
    done,
    /** Sends no new requests, and ends each connection after the response to its pending request. */
    end: (): void => {
      for (const client of clients) client.responseMax = Math.max(1, client.reqsMade);
    },
    /** Ends all connections immediately. Requests in flight get no response. */
    stop: (): void => instance.stop(),
  };
}

const headersOf = (raw: readonly string[]): Header[] =>
  Array.from({ length: Math.floor(raw.length / 2) }, (_, at): Header => [raw[2 * at] ?? "", raw[2 * at + 1] ?? ""]);

const closesConnection = (headers: readonly Header[]): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === "connection" && /\bclose\b/i.test(value));
