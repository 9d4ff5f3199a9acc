import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { type Dispatcher, request } from "undici";

import type { HarnessLimitError } from "../base/harness-limit.ts";
import { openDispatchers } from "../base/network/dispatchers.ts";
import { type Network, plainNetwork } from "../base/network/network.ts";
import { userAgent } from "../base/package-root.ts";
import type { Answered, Exchange, Header, SentRequest, StreamEvent, Unanswered } from "../evidence/exchange.ts";
import { recordBody, parseRawHeaders } from "./record-body.ts";
import { type Deadlines, defaultDeadlines, deadlinesWithHead, tighterDeadlines, watchDeadlines } from "./deadlines.ts";
import { unansweredBy, wasReusedConnection } from "./describe-error.ts";
import { sendFast } from "./fast-request.ts";
import { defaultReadBounds, readBody, type ReadBounds, strictBounds, type StreamClosing } from "./read-response.ts";

/** A request to send. `key` is the name of the API key, not the API key itself. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string | null;
  /** Encoding of the body. Default: UTF-8. */
  readonly encoding?: "latin1";
  readonly key: string | null;
  /** Splits the body into pieces with pauses between them. By default, the whole body is sent at once. */
  readonly pace?: Pace;
  /** Deadlines for this request. `connectMs` and deadlines longer than the transport's defaults have no effect. */
  readonly deadlines?: Partial<Deadlines>;
  /** Minimum time to wait for the response head, even if {@link deadlines} are shorter. */
  readonly minHeadMs?: number;
  /** Called after each event of a stream. If it returns `true`, the transport closes the connection. */
  readonly closeWhen?: (events: readonly StreamEvent[]) => boolean;
  /**
   * Rule for closing a stream that the server leaves open after its final event. By default, the stream stays open
   * until a deadline passes.
   */
  readonly closing?: StreamClosing;
}

/** A request in progress. Its promises never reject. */
export interface PendingExchange {
  /** Resolves when the response head has arrived, or when the request has failed. */
  readonly opened: Promise<void>;
  /** Resolves at the first event of a stream, or when no event can arrive any more. */
  readonly firstEvent: Promise<void>;
  readonly finished: Promise<Exchange>;
  readonly close: () => void;
}

export interface Transport {
  readonly open: (outgoing: OutgoingRequest) => PendingExchange;
  /**
   * Sends a request faster than `open`. The caller cannot close the connection. Stream events are not parsed. The
   * options `encoding`, `pace` and `minHeadMs` have no effect.
   */
  readonly openFast: (outgoing: OutgoingRequest) => Pick<PendingExchange, "opened" | "finished">;
  readonly close: () => Promise<void>;
}

interface TransportOptions {
  readonly now: () => number;
  readonly clockOffsetMs: () => number;
  readonly deadlines?: Partial<Deadlines>;
  /** Proxy and certificates. Default: a direct connection. */
  readonly network?: Network;
  /** Returns headers that identify the harness. They are sent, but not recorded. Default: `User-Agent`. */
  readonly senderHeaders?: (id: string, outgoing: OutgoingRequest) => readonly Header[];
  /** Called if this machine has no free port, file descriptor or memory for a connection. */
  readonly onHarnessLimit?: (limit: HarnessLimitError) => void;
  /**
   * Called if the transport resends a request because the server closed an idle connection. The server may have
   * received the request twice.
   */
  readonly onResend?: (exchange: Exchange) => void;
}

export function openTransport(options: TransportOptions): Transport {
  const defaults = { ...defaultDeadlines, ...options.deadlines };
  const dispatchers = openDispatchers(options.network ?? plainNetwork, {
    connectMs: defaults.connectMs,
    idleTimeoutMs: 0,
    maxHeaderSize: 128 * 1024,
    keepAliveMs: 2000,
    ...(options.onHarnessLimit && { onHarnessLimit: options.onHarnessLimit }),
  });
  let count = 0;
  // One response may be too large by chance. A target that has sent one gets less memory and time for all later ones.
  let hasExceeded = false;
  const exceeded = (): void => void (hasExceeded = true);
  const reportResend = (exchange: Exchange): void => {
    count += 1;
    options.onResend?.({ ...exchange, id: `x${count}` });
  };
  return {
    open: (outgoing) => {
      count += 1;
      const tight = tighterDeadlines(defaults, outgoing.deadlines ?? {});
      const deadlines = deadlinesWithHead(tight, outgoing.minHeadMs ?? 0);
      return openExchange(`x${count}`, outgoing, deadlines, dispatchers.of(outgoing.url), {
        ...options,
        bounds: hasExceeded ? strictBounds : defaultReadBounds,
        exceeded,
        reportResend,
      });
    },
    openFast: (outgoing) => {
      count += 1;
      const recorded = startOfExchange(`x${count}`, outgoing, options);
      const opened = Promise.withResolvers<void>();
      const deadlines = tighterDeadlines(defaults, outgoing.deadlines ?? {});
      const dispatcher = dispatchers.of(outgoing.url);
      const onResend = (answer: Unanswered): void => reportResend({ ...recorded, answer });
      const headers = sentHeaders(recorded.id, outgoing, options);
      const sending = sendFast(
        dispatcher,
        { ...outgoing, headers, deadlines, onHead: opened.resolve, onResend },
        options.now,
      );
      const finished = sending.then((answer): Exchange => {
        opened.resolve();
        return { ...recorded, answer };
      });
      return { opened: opened.promise, finished };
    },
    close: dispatchers.close,
  };
}

const defaultSenderHeaders = (): readonly Header[] => [["User-Agent", userAgent()]];

const sentHeaders = (
  id: string,
  outgoing: OutgoingRequest,
  { senderHeaders = defaultSenderHeaders }: TransportOptions,
): Header[] => [
  ...outgoing.headers,
  ...senderHeaders(id, outgoing).filter(([name]) => !outgoing.headers.some((own) => isSameHeader(own[0], name))),
];

const isSameHeader = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Returns an exchange without its response. Call this immediately before sending, because it reads the clocks. */
const startOfExchange = (
  id: string,
  outgoing: OutgoingRequest,
  { now, clockOffsetMs }: TransportOptions,
): Omit<Exchange, "answer"> => ({
  id,
  key: outgoing.key,
  request: recordRequest(outgoing),
  sentMs: now(),
  clockMs: clockOffsetMs(),
});

interface ExchangeOptions extends TransportOptions {
  /** Limits for this response. The limits are stricter if an earlier response has exceeded a limit. */
  readonly bounds: ReadBounds;
  readonly exceeded: () => void;
  readonly reportResend: (exchange: Exchange) => void;
}

function openExchange(
  id: string,
  outgoing: OutgoingRequest,
  deadlines: Deadlines,
  dispatcher: Dispatcher,
  options: ExchangeOptions,
): PendingExchange {
  const { now, bounds, exceeded } = options;
  const opened = Promise.withResolvers<void>();
  const firstEvent = Promise.withResolvers<void>();
  const controller = new AbortController();
  const watch = watchDeadlines(deadlines, () => controller.abort());
  const recorded = startOfExchange(id, outgoing, options);

  let chunkCount = 0;
  const counting = withChunkCounter(dispatcher, () => {
    chunkCount += 1;
    if (chunkCount !== bounds.chunks + 1 || watch.reason() !== null) return;
    exceeded();
    watch.stop(`more than ${bounds.chunks} chunks of body`);
  });

  const send = async (retried: boolean): Promise<Answered | Unanswered> => {
    let response: Dispatcher.ResponseData;
    try {
      response = await request(outgoing.url, {
        method: outgoing.method,
        headers: sentHeaders(id, outgoing, options).flat(),
        body: bodyOf(outgoing),
        dispatcher: counting,
        signal: controller.signal,
        responseHeaders: "raw",
        onInfo: watch.interimArrived,
      });
    } catch (error) {
      const answer = unansweredBy(error, watch.reason(), now());
      if (retried || watch.reason() !== null || !wasReusedConnection(error)) return answer;
      // Sends the request again. The server probably closed an idle connection without reading the request.
      options.reportResend({ ...recorded, answer });
      return send(true);
    }
    const headMs = now();
    watch.headArrived();
    opened.resolve();
    const headers = parseRawHeaders(response.headers);
    const reading = { ...outgoing, now, watch, firstEvent: firstEvent.resolve, bounds, exceeded };
    const read = await readBody(response.body, headers, reading);
    return { kind: "answered", status: response.statusCode, headers, headMs, endMs: now(), ...read };
  };

  const finished = send(false).then((answer): Exchange => {
    watch.end();
    opened.resolve();
    firstEvent.resolve();
    return { ...recorded, answer };
  });
  return { opened: opened.promise, firstEvent: firstEvent.promise, finished, close: () => watch.stop("us") };
}

const bodyOf = ({ body, encoding, pace }: OutgoingRequest): string | Buffer | Readable | null => {
  if (body !== null && encoding !== undefined) return Buffer.from(body, encoding);
  return body === null || pace === undefined ? body : pacedBody(body, pace);
};

/** Calls `onChunk` for each arriving body chunk. A count at the body stream would be too low: Node joins chunks. */
const withChunkCounter = (dispatcher: Dispatcher, onChunk: () => void): Dispatcher =>
  dispatcher.compose((dispatch) => (options, handler) => {
    const take = handler.onResponseData?.bind(handler);
    handler.onResponseData = (controller, chunk) => {
      onChunk();
      take?.(controller, chunk);
    };
    return dispatch(options, handler);
  });

function recordRequest({ method, url, headers, body, encoding }: OutgoingRequest): SentRequest {
  const recorder = recordBody();
  if (body !== null) recorder.add(Buffer.from(body, encoding ?? "utf8"));
  return { method, url, headers, body: recorder.body() };
}

export interface Pace {
  readonly pieces: number;
  readonly pauseMs: number;
}

/** Returns a stream of a body in pieces of about the same size. A piece may end within a multi-byte character. */
const pacedBody = (body: string, pace: Pace): Readable => Readable.from(inPieces(body, pace));

async function* inPieces(body: string, { pieces, pauseMs }: Pace): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body, "utf8");
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length; at += size) {
    if (at > 0) await sleep(pauseMs);
    yield bytes.subarray(at, at + size);
  }
}
