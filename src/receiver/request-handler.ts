import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

import type { DeliveryReply } from "../evidence/delivery.ts";
import { parseRawHeaders } from "../wire/raw-headers.ts";
import { type ReceivedBody, readBody } from "./body.ts";
import type { OpenHook, Received } from "./hook.ts";
import { type LingeringConnections, startReply } from "./replying.ts";

/** Milliseconds: of the run, of the target's clock as far as it was moved, and that with a move under way. */
export interface ReceiverClock {
  readonly now: () => number;
  readonly clockOffsetMs: () => number;
  readonly maxClockOffsetMs: () => number;
}

/** Requests that no hook took, and that are only counted. */
export interface Ignored {
  /** To no address of the receiver. */
  unknown: number;
  /** With a method that delivers nothing. */
  looks: number;
  /** No HTTP, or too slow. */
  malformed: number;
  /** Ended before their body did. */
  incomplete: number;
}

export interface RequestHandlerContext {
  readonly time: ReceiverClock;
  readonly ignored: Ignored;
  readonly lingering: LingeringConnections;
  /** Deliveries that have their ids already. */
  readonly earlier: number;
  readonly hookAt: (token: string, name: string) => OpenHook | undefined;
  /** What the receiver answers for itself, where the address is its own. */
  readonly ownAnswerAt: (token: string) => string | undefined;
}

/** Takes requests in: finds the hook, reads the body, replies as the hook was told to, and records all of it. */
export function createRequestHandler(parts: RequestHandlerContext): RequestListener {
  let count = parts.earlier;
  const nextId = (): string => `d${(count += 1)}`;
  return (incoming, response) => {
    // A sender may quietly repeat what was reset on a connection that it had used before: each delivery gets one of its own.
    response.shouldKeepAlive = false;
    const { token, name } = placeIn(incoming.url ?? "");
    const own = parts.ownAnswerAt(token);
    if (own !== undefined) return void response.end(own);
    const opened = parts.hookAt(token, name);
    if (opened !== undefined && isLook(incoming)) {
      parts.ignored.looks += 1;
      return void response.end();
    }
    if (opened !== undefined) return void takeIn(opened, incoming, response, nextId, parts);
    parts.ignored.unknown += 1;
    response.writeHead(404).end();
  };
}

/** Some senders look whether an address is there before they deliver to it. */
const isLook = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS";

/** A tunnel may put a path of its own before the hook's. */
function placeIn(url: string): { readonly token: string; readonly name: string } {
  const [name = "", token = ""] = (url.split("?", 1)[0] ?? "").split("/").toReversed();
  return { token, name };
}

async function takeIn(
  { hook, nextReply, countOnly, take, whenReleased }: OpenHook,
  incoming: IncomingMessage,
  response: ServerResponse,
  nextId: () => string,
  { time, ignored, lingering }: RequestHandlerContext,
): Promise<void> {
  if (countOnly()) return turnAway(incoming, response);
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

/** What is turned away waits for it: a flood comes no faster than so many senders can wait. Milliseconds. */
const turnedAwayAfterMs = 50;

/** Of a delivery that is only counted, nothing is read but its head. */
function turnAway({ socket }: IncomingMessage, response: ServerResponse): void {
  const timer = setTimeout(() => response.writeHead(503).end(), turnedAwayAfterMs);
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
