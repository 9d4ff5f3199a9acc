import type { ServerResponse } from "node:http";

import { type DeliveryReply, hasValidSignature } from "../evidence/delivery.ts";
import type { ReceivedDelivery, Reply } from "./hook.ts";

/**
 * Registers a connection that stays open; the returned function unregisters it. If too many connections stay open, the
 * `drop` of the oldest is called.
 */
export type KeepConnection = (drop: () => void) => () => void;

const maxKeptConnections = 64;

export function limitKeptConnections(): KeepConnection {
  const open = new Set<() => void>();
  return (drop) => {
    open.add(drop);
    const [oldest] = open;
    if (open.size > maxKeptConnections && oldest !== undefined) {
      open.delete(oldest);
      oldest();
    }
    return () => void open.delete(drop);
  };
}

export interface ReplyContext {
  readonly response: ServerResponse;
  readonly now: () => number;
  /** Called with the final reply, if {@link startReply} returned before the reply was complete. */
  readonly change: (changed: DeliveryReply) => void;
  readonly whenReleased: (then: () => void) => void;
  readonly keepOpen: KeepConnection;
}

/** Starts a reply and returns its record. If the reply ends after the return, `change` gets the final record. */
export function startReply(reply: Reply, received: ReceivedDelivery, context: ReplyContext): DeliveryReply {
  switch (reply.kind) {
    case "status":
      return sendReply(reply, context);
    case "verify":
      return sendReply({ status: hasValidSignature(received) ? 204 : 401 }, context);
    case "reset":
      context.response.socket?.resetAndDestroy();
      return { kind: "reset" };
    case "held":
      return holdReply(reply.status, context);
    case "silence":
      return keepConnectionOpen({ kind: "silent", leftMs: null }, context);
    case "endless":
      return streamEndlessly(reply.status, context);
  }
}

type SentReply = Pick<Extract<Reply, { kind: "status" }>, "status" | "headers" | "body">;

function sendReply({ status, headers = [], body = "" }: SentReply, { response, now }: ReplyContext): DeliveryReply {
  response.writeHead(status, headers.flat());
  response.end(status === 204 || status === 304 ? "" : body);
  return { kind: "answered", status, endMs: now() };
}

function holdReply(status: number, context: ReplyContext): DeliveryReply {
  const { response, change, now, whenReleased } = context;
  let isFinished = false;
  const once = (reply: () => DeliveryReply): void => {
    if (!isFinished) change(reply());
    isFinished = true;
  };
  response.on("close", () => once(() => ({ kind: "silent", leftMs: now() })));
  whenReleased(() => once(() => sendReply({ status }, context)));
  return { kind: "held" };
}

type UnendingReply = Extract<DeliveryReply, { kind: "silent" | "endless" }>;

function keepConnectionOpen(reply: UnendingReply, { response, change, now, keepOpen }: ReplyContext): DeliveryReply {
  let isDropped = false;
  const ended = keepOpen(() => {
    isDropped = true;
    response.socket?.resetAndDestroy();
  });
  response.on("close", () => {
    ended();
    change(isDropped ? { kind: "reset" } : { ...reply, leftMs: now() });
  });
  return reply;
}

const endlessPieceIntervalMs = 100;
/** After this time, the receiver ends an `endless` reply, so that senders need not wait for a timeout. */
const maxEndlessBodyMs = 1000;

function streamEndlessly(status: number, context: ReplyContext): DeliveryReply {
  const { response } = context;
  response.writeHead(status, ["Content-Type", "text/plain"]);
  const timer = setInterval(() => response.writableNeedDrain || response.write("more\n"), endlessPieceIntervalMs);
  response.write("a body that does not end\n");
  const end = setTimeout(() => response.destroy(), maxEndlessBodyMs);
  response.on("close", () => {
    clearInterval(timer);
    clearTimeout(end);
  });
  return keepConnectionOpen({ kind: "endless", status, leftMs: null }, context);
}
