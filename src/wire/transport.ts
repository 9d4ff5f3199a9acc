import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { type Dispatcher, request } from "undici";

import { openDispatchers } from "../base/network/dispatchers.ts";
import { type Network, plainNetwork } from "../base/network/network.ts";
import type { Answered, Ending, Exchange, Header, SentRequest, StreamEvent, Unanswered } from "../evidence/exchange.ts";
import { recordBody } from "./body-recorder.ts";
import {
  type Deadlines,
  tooManyInterim,
  maxInterim,
  defaultDeadlines,
  tighterDeadlines,
  type DeadlineWatch,
  watchDeadlines,
} from "./deadlines.ts";
import { describeBodyEnd, unansweredBy, wasReusedConnection } from "./describe-error.ts";
import { sendFast } from "./fast-request.ts";
import { parseRawHeaders } from "./raw-headers.ts";
import { withChunkCounter } from "./telling-chunks.ts";
import { readStream, type StreamBounds } from "./stream-reader.ts";

/** A request to be sent. `body` is sent byte by byte as given. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string | null;
  readonly key: string | null;
  /** Tighter ones than the transport's; a longer one has no effect. */
  readonly deadlines?: Partial<Deadlines>;
  /** Asked after each event of a stream; `true` closes the connection on purpose. */
  readonly closeWhen?: (events: readonly StreamEvent[]) => boolean;
  /** How a stream that is over and stays open is left. */
  readonly closing?: Closing;
}

/** What is done with a stream that stays open after its last event. */
export interface Closing {
  readonly isLast: (event: StreamEvent) => boolean;
  /** Real time after the last event, in milliseconds. */
  readonly ms: number;
  /** Whether it was known to stay open: then it is closed on purpose, and nothing is learnt of it. */
  readonly isKnown: boolean;
}

/** An exchange under way. None of its promises ever rejects. */
export interface PendingExchange {
  /** Settles when the response's head is there, or no response will come. */
  readonly opened: Promise<void>;
  /** Settles at the stream's first event, or when none will come. */
  readonly firstEvent: Promise<void>;
  readonly finished: Promise<Exchange>;
  /** Closes the connection on purpose. */
  readonly close: () => void;
}

export interface Transport {
  readonly open: (outgoing: OutgoingRequest) => PendingExchange;
  /** For requests by the thousand: a plain answer, read at the least cost; events are not told apart, nothing can be closed. */
  readonly openFast: (outgoing: OutgoingRequest) => Pick<PendingExchange, "opened" | "finished">;
  readonly close: () => Promise<void>;
}

export interface TransportOptions {
  /** Milliseconds since the start of the run. */
  readonly now: () => number;
  /** How far the target's own clock has been moved, in milliseconds. */
  readonly clockOffsetMs: () => number;
  readonly deadlines?: Partial<Deadlines>;
  /** How the target is reached: straight, unless told. */
  readonly network?: Network;
  /** Told of a request that is sent once more, since its connection ended as an idle one may: the target may have taken it all the same. */
  readonly onLost?: (exchange: Exchange) => void;
}

/** A stream may say nothing but comments for as long as an agent may take by default, and some more. */
const mostEventlessMs = 35_000;
/** An answer is read no further than this, even when the target goes on. */
interface Most extends StreamBounds {
  readonly bodyBytes: number;
  /** Chunks of a byte each cost a thousand times as much as the same bytes at once. */
  readonly chunks: number;
}

const generous: Most = { bodyBytes: 32 * 1024 * 1024, chunks: 200_000, events: 20_000, eventChars: 512 * 1024 };
/** Once an answer was longer than that: of those that follow, the beginning tells as much. */
const strict: Most = { bodyBytes: 2 * 1024 * 1024, chunks: 20_000, events: 1000, eventChars: 64 * 1024 };
const mostExcesses = 1;

/** Opens the harness's side of the wire: undici, with a deadline on every part of an exchange, and a record of all of it. */
export function openTransport(options: TransportOptions): Transport {
  const standing = { ...defaultDeadlines, ...options.deadlines };
  const dispatchers = openDispatchers(options.network ?? plainNetwork, {
    connectMs: standing.connectMs,
    idleTimeoutMs: 0,
    maxHeaderSize: 128 * 1024,
    keepAliveMs: 2000,
  });
  let count = 0;
  let excesses = 0;
  const bounding: Bounding = {
    most: () => (excesses < mostExcesses ? generous : strict),
    exceeded: () => void (excesses += 1),
  };
  const lost = (exchange: Exchange): void => {
    count += 1;
    options.onLost?.({ ...exchange, id: `x${count}` });
  };
  return {
    open: (outgoing) => {
      count += 1;
      const deadlines = tighterDeadlines(standing, outgoing.deadlines ?? {});
      return openExchange(`x${count}`, outgoing, deadlines, dispatchers.of(outgoing.url), {
        ...options,
        ...bounding,
        lost,
      });
    },
    openFast: (outgoing) => {
      count += 1;
      const base = begin(`x${count}`, outgoing, options);
      const opened = Promise.withResolvers<void>();
      const deadlines = tighterDeadlines(standing, outgoing.deadlines ?? {});
      const dispatcher = dispatchers.of(outgoing.url);
      const onLost = (answer: Unanswered): void => lost({ ...base, answer });
      const sending = sendFast(dispatcher, { ...outgoing, deadlines, onHead: opened.resolve, onLost }, options.now);
      const finished = sending.then((answer): Exchange => {
        opened.resolve();
        return { ...base, answer };
      });
      return { opened: opened.promise, finished };
    },
    close: dispatchers.close,
  };
}

/** How much of an answer is read, by what answers were so far. */
interface Bounding {
  readonly most: () => Most;
  readonly exceeded: () => void;
}

/** What is known of an exchange when it is sent. */
const begin = (
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

function openExchange(
  id: string,
  outgoing: OutgoingRequest,
  deadlines: Deadlines,
  dispatcher: Dispatcher,
  options: TransportOptions & Bounding & { readonly lost: (exchange: Exchange) => void },
): PendingExchange {
  const { now, exceeded } = options;
  const most = options.most();
  const opened = Promise.withResolvers<void>();
  const flowing = Promise.withResolvers<void>();
  const controller = new AbortController();
  const watch = watchDeadlines(deadlines, () => controller.abort());
  const base = begin(id, outgoing, options);

  let interim = 0;
  let chunks = 0;
  const counting = withChunkCounter(dispatcher, () => {
    chunks += 1;
    if (chunks !== most.chunks + 1 || watch.reason() !== null) return;
    exceeded();
    watch.stop(`more than ${most.chunks} chunks of body`);
  });

  const exchange = async (retried: boolean): Promise<Answered | Unanswered> => {
    let response: Dispatcher.ResponseData;
    try {
      response = await request(outgoing.url, {
        method: outgoing.method,
        headers: outgoing.headers.flat(),
        body: outgoing.body,
        dispatcher: counting,
        signal: controller.signal,
        responseHeaders: "raw",
        onInfo: () => {
          interim += 1;
          if (interim > maxInterim) watch.stop(tooManyInterim);
        },
      });
    } catch (error) {
      // A server may close an idle connection at the instant we reuse it: that request was hardly read, so it is sent once more.
      const answer = unansweredBy(error, watch.reason(), now());
      if (retried || watch.reason() !== null || !wasReusedConnection(error)) return answer;
      options.lost({ ...base, answer });
      return exchange(true);
    }
    const headMs = now();
    watch.headArrived();
    opened.resolve();
    const headers = parseRawHeaders(response.headers);
    const reading = { ...outgoing, now, watch, flowing: flowing.resolve, most, exceeded };
    const read = await readBody(response.body, headers, reading);
    return { kind: "answered", status: response.statusCode, headers, headMs, endMs: now(), ...read };
  };

  const finished = exchange(false).then((answer): Exchange => {
    watch.end();
    opened.resolve();
    flowing.resolve();
    return { ...base, answer };
  });
  return { opened: opened.promise, firstEvent: flowing.promise, finished, close: () => watch.stop("us") };
}

function recordRequest({ method, url, headers, body }: OutgoingRequest): SentRequest {
  const kept = recordBody();
  if (body !== null) kept.add(Buffer.from(body, "utf8"));
  return { method, url, headers, body: kept.body() };
}

interface BodyReading {
  readonly now: () => number;
  readonly watch: DeadlineWatch;
  readonly flowing: () => void;
  readonly most: Most;
  readonly exceeded: () => void;
  readonly closeWhen?: (events: readonly StreamEvent[]) => boolean;
  readonly closing?: Closing;
}

async function readBody(raw: Readable, headers: readonly Header[], reading: BodyReading) {
  const { now, watch, most } = reading;
  const kept = recordBody();
  const isStream = headers.some(
    ([name, value]) => name.toLowerCase() === "content-type" && /^\s*text\/event-stream\b/i.test(value),
  );
  let lastEventMs = now();
  const lingering = leaveWhenOver(reading);
  const stream = readStream(most, (events) => {
    lastEventMs = now();
    reading.flowing();
    if (reading.closeWhen?.(events) === true) watch.stop("us");
    lingering.saw(events.at(-1));
  });
  let ending: Ending = { kind: "complete" };
  try {
    for await (const piece of decoded(raw, headers)) {
      watch.pieceArrived();
      kept.add(piece as Uint8Array);
      if (isStream) stream.add(piece as Uint8Array, now());
      if (watch.reason() === "us") break;
      const isEventless = isStream && now() - lastEventMs > mostEventlessMs;
      const excess = kept.bytes() > most.bodyBytes ? `more than ${most.bodyBytes} bytes of body` : stream.excess();
      if (isEventless) watch.stop(`no event for ${mostEventlessMs / 1000} s`);
      if (excess === null || watch.reason() !== null) continue;
      reading.exceeded();
      watch.stop(excess);
    }
  } catch (error) {
    ending = { kind: "broken", detail: describeBodyEnd(error) };
  }
  lingering.end();
  const reason = watch.reason();
  if (reason === "us") ending = { kind: "closed by us" };
  else if (reason !== null) ending = { kind: "deadline", detail: reason };
  if (isStream) stream.end(now());
  return { body: kept.body(), ending, events: stream.events };
}

/** Leaves a stream some time after its last event, whatever it goes on to send. */
function leaveWhenOver({ watch, closing }: BodyReading): {
  readonly saw: (event: StreamEvent | undefined) => void;
  readonly end: () => void;
} {
  let timer: NodeJS.Timeout | null = null;
  return {
    saw: (event) => {
      if (closing === undefined || event === undefined || timer !== null || !closing.isLast(event)) return;
      const why = closing.isKnown ? "us" : `still open ${closing.ms / 1000} s after its last event`;
      timer = setTimeout(() => watch.stop(why), closing.ms);
    },
    end: () => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function decoded(raw: Readable, headers: readonly Header[]): Readable {
  const coding = headers
    .find(([name]) => name.toLowerCase() === "content-encoding")?.[1]
    .trim()
    .toLowerCase();
  const decoder =
    coding === "gzip" || coding === "x-gzip"
      ? createGunzip()
      : coding === "deflate"
        ? createInflate()
        : coding === "br"
          ? createBrotliDecompress()
          : null;
  if (decoder === null) return raw;
  raw.on("error", (error) => decoder.destroy(error));
  return raw.pipe(decoder);
}
