import { createHmac } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

import type { DeliveryReply } from "../evidence/delivery.ts";
import type { Body } from "../evidence/exchange.ts";
import { recordBody, parseRawHeaders } from "../wire/record.ts";
import type { Connections } from "./connections.ts";
import type { OpenHook, Received } from "./hook.ts";
import { type KeepOpen, startReply } from "./replying.ts";

/** The clocks of a receiver: the run's, and how far the target's was advanced, without and with a pending advance. */
export interface ReceiverClock {
  readonly now: () => number;
  readonly clockOffsetMs: () => number;
  readonly maxClockOffsetMs: () => number;
}

/** Counts of requests that belong to no hook. */
export interface Ignored {
  /** Requests to an unknown address. */
  unknown: number;
  /** Requests with a method that delivers nothing. */
  reachabilityRequests: number;
  /** Requests that are not HTTP, or too slow. */
  malformed: number;
  /** Requests that ended before the body was complete. */
  incomplete: number;
}

export interface RequestHandlerContext {
  readonly time: ReceiverClock;
  readonly ignored: Ignored;
  readonly keepOpen: KeepOpen;
  readonly connections: Connections;
  /** Number of earlier deliveries, to continue their ids. */
  readonly earlierDeliveries: number;
  readonly hookAt: (token: string, name: string) => OpenHook | null;
  /** The response of the receiver's own address, for its reachability test. */
  readonly ownResponseAt: (token: string) => string | undefined;
}

/**
 * Creates the request handler of the receiver. It finds the hook, reads the body, sends the planned reply and records
 * all of it.
 */
export function createRequestHandler(context: RequestHandlerContext): RequestListener {
  let count = context.earlierDeliveries;
  const nextId = (): string => `d${(count += 1)}`;
  return (incoming, response) => {
    // Each delivery gets a connection of its own, because senders may silently retry after a reused connection was
    // reset.
    response.shouldKeepAlive = false;
    const { token, name } = parsePath(incoming.url ?? "");
    const { connections } = context;
    const own = context.ownResponseAt(token);
    const opened = context.hookAt(token, name);
    connections.mark(incoming.socket, "complete");
    if (own !== undefined) response.end(own);
    else if (opened === null) {
      context.ignored.unknown += 1;
      connections.reject(incoming.socket, () => response.writeHead(404).end());
    } else if (isReachabilityRequest(incoming) && !(opened.takesReads && incoming.method === "GET")) {
      context.ignored.reachabilityRequests += 1;
      response.end();
    } else void receive(opened, incoming, response, nextId, context);
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
  { time, ignored, keepOpen, connections }: RequestHandlerContext,
): Promise<void> {
  const { socket } = incoming;
  if (countOnly()) return connections.reject(socket, () => response.writeHead(503).end());
  connections.mark(socket, "incomplete");
  const body = await readBody(incoming, hook.secret);
  if (body === null) {
    ignored.incomplete += 1;
    return;
  }
  connections.mark(socket, "complete");
  if (!body.isWhole) response.on("finish", () => socket.destroy());
  const received = receivedOf(nextId(), incoming, body, time);
  let changed: (reply: DeliveryReply) => void = () => {};
  const reply = startReply(body.isWhole ? nextReply() : tooLong, received, {
    response,
    now: time.now,
    change: (later) => changed(later),
    whenReleased,
    keepOpen,
  });
  changed = take(received, reply);
}

const tooLong = { kind: "status", status: 413 } as const;

const receivedOf = (id: string, incoming: IncomingMessage, body: ReceivedBody, time: ReceiverClock): Received => ({
  id,
  request: {
    method: incoming.method ?? "",
    url: incoming.url ?? "",
    headers: parseRawHeaders(incoming.rawHeaders),
    body: body.body,
  },
  peer: (incoming.socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
  receivedMs: time.now(),
  clockMs: time.clockOffsetMs(),
  clockAtMostMs: time.maxClockOffsetMs(),
  computedSignature: body.signature,
});

/**
 * Computes the signature of a body that arrives in pieces: the HMAC-SHA256 of the raw bytes, in lower-case hexadecimal.
 * The key is the secret of the webhook. Source: Delivery security and policy 1.
 */
export function startSigning(secret: string) {
  const hmac = createHmac("sha256", Buffer.from(secret, "utf8"));
  return { add: (piece: Uint8Array): void => void hmac.update(piece), signature: (): string => hmac.digest("hex") };
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
  const recorder = recordBody();
  const signing = secret === null ? null : startSigning(secret);
  return new Promise((resolve) => {
    incoming.on("data", (piece: Buffer) => {
      recorder.add(piece);
      signing?.add(piece);
      if (recorder.bytes() <= maxBodyBytes) return;
      incoming.removeAllListeners("data").pause();
      resolve({ body: recorder.body(), signature: null, isWhole: false });
    });
    incoming.on("end", () =>
      resolve({ body: recorder.body(), signature: signing?.signature() ?? null, isWhole: true }),
    );
    incoming.on("error", () => resolve(null));
    incoming.on("close", () => resolve(null));
  });
}
