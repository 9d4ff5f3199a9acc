import { createHmac } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

import type { DeliveryReply } from "../evidence/delivery.ts";
import type { Body } from "../evidence/exchange.ts";
import { recordBody, parseRawHeaders } from "../wire/record.ts";
import type { OpenHook, Received } from "./hook.ts";
import { type LingeringConnections, startReply } from "./replying.ts";

/** The clocks of a receiver: the run's, and how far the target's was advanced, without and with a pending advance. */
export interface ReceiverClock {
  readonly now: () => number;
  readonly clockOffsetMs: () => number;
  readonly maxClockOffsetMs: () => number;
}

/** Counts of requests that belong to no hook. */
export interface Ignored {
  /** Sent to an unknown address. */
  unknown: number;
  /** Sent with a method that delivers nothing. */
  reachabilityRequests: number;
  /** Not HTTP, or too slow. */
  malformed: number;
  /** Ended before the body was complete. */
  incomplete: number;
}

export interface RequestHandlerContext {
  readonly time: ReceiverClock;
  readonly ignored: Ignored;
  readonly lingering: LingeringConnections;
  /** Number of earlier deliveries, to continue their ids. */
  readonly earlierDeliveries: number;
  readonly hookAt: (token: string, name: string) => OpenHook | undefined;
  /** The response of the receiver's own address, for its reachability test. */
  readonly ownResponseAt: (token: string) => string | undefined;
}

/**
 * Creates the request handler of the receiver. It finds the hook, reads the body, sends the planned reply and records
 * all of it.
 */
export function createRequestHandler(parts: RequestHandlerContext): RequestListener {
  let count = parts.earlierDeliveries;
  const nextId = (): string => `d${(count += 1)}`;
  return (incoming, response) => {
    // Senders may silently retry after a reset of a reused connection, so each delivery gets its own.
    response.shouldKeepAlive = false;
    const { token, name } = parsePath(incoming.url ?? "");
    const own = parts.ownResponseAt(token);
    if (own !== undefined) return void response.end(own);
    const opened = parts.hookAt(token, name);
    if (opened !== undefined && isReachabilityRequest(incoming)) {
      parts.ignored.reachabilityRequests += 1;
      return void response.end();
    }
    if (opened !== undefined) return void receive(opened, incoming, response, nextId, parts);
    parts.ignored.unknown += 1;
    response.writeHead(404).end();
  };
}

/** Whether a sender only tests that the address exists. */
const isReachabilityRequest = ({ method }: IncomingMessage): boolean =>
  method === "GET" || method === "HEAD" || method === "OPTIONS";

/** The token and name at the end of a path. A tunnel may add a prefix. */
function parsePath(url: string): { readonly token: string; readonly name: string } {
  const [name = "", token = ""] = (url.split("?", 1)[0] ?? "").split("/").toReversed();
  return { token, name };
}

async function receive(
  { hook, nextReply, countOnly, take, whenReleased }: OpenHook,
  incoming: IncomingMessage,
  response: ServerResponse,
  nextId: () => string,
  { time, ignored, lingering }: RequestHandlerContext,
): Promise<void> {
  if (countOnly()) return refuse(incoming, response);
  const arrived = await readBody(incoming, hook.secret);
  if (arrived === null) {
    ignored.incomplete += 1;
    return;
  }
  if (!arrived.isWhole) response.on("finish", () => incoming.socket.destroy());
  const received = receivedOf(nextId(), incoming, arrived, time);
  let changed: (reply: DeliveryReply) => void = () => {};
  const reply = startReply(arrived.isWhole ? nextReply() : tooLong, received, {
    response,
    now: time.now,
    change: (later) => changed(later),
    whenReleased,
    lingering,
  });
  changed = take(received, reply);
}

/** Delay before a refusal, in milliseconds, which slows down a flood. */
const refusalDelayMs = 50;

/** Refuses a delivery without reading its body. */
function refuse({ socket }: IncomingMessage, response: ServerResponse): void {
  const timer = setTimeout(() => response.writeHead(503).end(), refusalDelayMs);
  response.on("close", () => clearTimeout(timer));
  response.on("finish", () => socket.destroy());
}

const tooLong = { kind: "status", status: 413 } as const;

const receivedOf = (id: string, incoming: IncomingMessage, arrived: ReceivedBody, time: ReceiverClock): Received => ({
  id,
  request: {
    method: incoming.method ?? "",
    url: incoming.url ?? "",
    headers: parseRawHeaders(incoming.rawHeaders),
    body: arrived.body,
  },
  peer: (incoming.socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
  receivedMs: time.now(),
  clockMs: time.clockOffsetMs(),
  clockAtMostMs: time.maxClockOffsetMs(),
  computedSignature: arrived.signature,
});

/** Computes the signature of a body that arrives in pieces. */
export interface Signing {
  readonly add: (piece: Uint8Array) => void;
  /** The signature in lower-case hexadecimal. Must be called only once. */
  readonly signature: () => string;
}

/** HMAC-SHA256 of a body's raw bytes, keyed with a webhook's secret. Source: Delivery security and policy 1. */
export function startSigning(secret: string): Signing {
  const hmac = createHmac("sha256", Buffer.from(secret, "utf8"));
  return { add: (piece) => void hmac.update(piece), signature: () => hmac.digest("hex") };
}

/** The body of a request. */
export interface ReceivedBody {
  readonly body: Body;
  /** HMAC of the raw bytes. `null` without a secret, or if the body was too long. */
  readonly signature: string | null;
  /** Whether the body was read to its end. `false` if it was too long. */
  readonly isWhole: boolean;
}

/** Maximum body size to read. */
export const maxBodyBytes = 2 * 1024 * 1024;

/** Reads the body of a request. `null` if the connection ended before the body did. */
export function readBody(incoming: IncomingMessage, secret: string | null): Promise<ReceivedBody | null> {
  const kept = recordBody();
  const signing = secret === null ? null : startSigning(secret);
  return new Promise((resolve) => {
    incoming.on("data", (piece: Buffer) => {
      kept.add(piece);
      signing?.add(piece);
      if (kept.bytes() <= maxBodyBytes) return;
      incoming.removeAllListeners("data").pause();
      resolve({ body: kept.body(), signature: null, isWhole: false });
    });
    incoming.on("end", () => resolve({ body: kept.body(), signature: signing?.signature() ?? null, isWhole: true }));
    incoming.on("error", () => resolve(null));
    incoming.on("close", () => resolve(null));
  });
}
