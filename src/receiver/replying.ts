import type { ServerResponse } from "node:http";

import { type DeliveryReply, hasValidSignature } from "../evidence/delivery.ts";
import type { Received, Reply } from "./hook.ts";

/** Connections that the receiver keeps open on purpose. */
export interface LingeringConnections {
  /**
   * @param drop called if the connection is the oldest of too many
   * @returns a function to call when the connection has ended by itself
   */
  readonly add: (drop: () => void) => () => void;
}

const maxLingering = 64;

export function openLingeringConnections(): LingeringConnections {
  const open = new Set<() => void>();
  return {
    add: (drop) => {
      open.add(drop);
      const [oldest] = open;
      if (open.size > maxLingering && oldest !== undefined) {
        open.delete(oldest);
        oldest();
      }
      return () => void open.delete(drop);
    },
  };
}

/** Everything needed to reply to a request. */
export interface ReplyContext {
  readonly response: ServerResponse;
  readonly now: () => number;
  /** Called when a slow reply ends. */
  readonly change: (changed: DeliveryReply) => void;
  /** Registers a callback for the release of the hook. */
  readonly whenReleased: (then: () => void) => void;
  readonly lingering: LingeringConnections;
}

/** Sends a reply, or starts a slow one. Returns its record so far. */
export function startReply(reply: Reply, received: Received, replying: ReplyContext): DeliveryReply {
  switch (reply.kind) {
    case "status":
      return answer(reply, replying);
    case "verify":
      return answer({ status: hasValidSignature(received) ? 204 : 401 }, replying);
    case "reset":
      return reset(replying);
    case "held":
      return hold(reply.status, replying);
    case "silence":
      return stayOpen({ kind: "silent", leftMs: null }, replying);
    case "endless":
      return streamEndlessly(reply.status, replying);
  }
}

type Answer = Pick<Extract<Reply, { kind: "status" }>, "status" | "headers" | "body">;

function answer({ status, headers = [], body = "" }: Answer, { response, now }: ReplyContext): DeliveryReply {
  response.writeHead(status, headers.flat());
  response.end(status === 204 || status === 304 ? "" : body);
  return { kind: "answered", status, endMs: now() };
}

function reset({ response }: ReplyContext): DeliveryReply {
  response.socket?.resetAndDestroy();
  return { kind: "reset" };
}

/** Replies when the hook is released. If the sender disconnects earlier, the attempt got no reply. */
function hold(status: number, replying: ReplyContext): DeliveryReply {
  const { response, change, now, whenReleased } = replying;
  let isFinished = false;
  const once = (reply: () => DeliveryReply): void => {
    if (!isFinished) change(reply());
    isFinished = true;
  };
  response.on("close", () => once(() => ({ kind: "silent", leftMs: now() })));
  whenReleased(() => once(() => answer({ status }, replying)));
  return { kind: "held" };
}

type Unending = Extract<DeliveryReply, { kind: "silent" | "endless" }>;

/** Keeps the connection open until the sender disconnects, or until it is the oldest of too many. */
function stayOpen(reply: Unending, { response, change, now, lingering }: ReplyContext): DeliveryReply {
  let isDropped = false;
  const ended = lingering.add(() => {
    isDropped = true;
    response.socket?.resetAndDestroy();
  });
  response.on("close", () => {
    ended();
    change(isDropped ? { kind: "reset" } : { ...reply, leftMs: now() });
  });
  return reply;
}

const pieceIntervalMs = 100;

function streamEndlessly(status: number, replying: ReplyContext): DeliveryReply {
  const { response } = replying;
  response.writeHead(status, ["Content-Type", "text/plain"]);
  const timer = setInterval(() => response.writableNeedDrain || response.write("more\n"), pieceIntervalMs);
  response.write("a body that does not end\n");
  response.on("close", () => clearInterval(timer));
  return stayOpen({ kind: "endless", status, leftMs: null }, replying);
}
