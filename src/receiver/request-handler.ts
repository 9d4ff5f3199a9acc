import { createHmac } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type DeliveryReply, hasValidSignature } from "../evidence/delivery.ts";
import type { Body } from "../evidence/exchange.ts";
import { parseRawHeaders, recordBody } from "../wire/record-body.ts";
import type { Connections } from "./server.ts";
import type { OpenHook, ReceivedDelivery, Reply } from "./hook.ts";

/**
 * Registers a connection that a `silence` or `endless` reply keeps open. Returns a function that unregisters it. If too
 * many are registered, calls the `drop` function of the oldest.
 */
type KeepConnection = (drop: () => void) => () => void;

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

interface ReplyContext {
  readonly response: ServerResponse;
  readonly now: () => number;
  /** Updates the record of a reply that ended after {@link startReply} had returned, e.g. of a `held` reply. */
  readonly change: (changed: DeliveryReply) => void;
  readonly whenReleased: (then: () => void) => void;
  readonly keepOpen: KeepConnection;
}

/**
 * Starts a reply and returns the record of that reply. If the reply ends later, `context.change` gets the final record.
 */
function startReply(reply: Reply, received: ReceivedDelivery, context: ReplyContext): DeliveryReply {
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
/** Duration of an `endless` reply. Then the receiver disconnects, so that senders need not wait for their timeout. */
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

/** The times that the receiver records with each delivery. */
export interface ReceiverClock {
  /** Returns the real time in milliseconds, e.g. since the start of the run. */
  readonly now: () => number;
  /** Returns how far the target's test clock has been advanced. */
  readonly clockOffsetMs: () => number;
  /** Like `clockOffsetMs`, but includes an advance that is still in progress. */
  readonly maxClockOffsetMs: () => number;
}

export interface IgnoredCounts {
  unknown: number;
  /** GET, HEAD and OPTIONS requests: a target may test an address with them. With `takesReads`, a GET is a delivery. */
  reachabilityRequests: number;
  /** Requests that are not valid HTTP or arrive too slowly, and connections that fail, e.g. by a reset. */
  malformed: number;
  incomplete: number;
}

interface RequestHandlerContext {
  readonly time: ReceiverClock;
  readonly ignored: IgnoredCounts;
  readonly keepOpen: KeepConnection;
  readonly connections: Connections;
  /** Number of deliveries before the receiver was resumed; 0 for a new receiver. The delivery ids continue from it. */
  readonly earlierDeliveries: number;
  readonly hookAt: (token: string, name: string) => OpenHook | null;
  /**
   * Returns the response to the receiver's own request to its public URL, if `token` is the token of that request;
   * otherwise `undefined`.
   */
  readonly ownResponseAt: (token: string) => string | undefined;
}

export function createRequestHandler(context: RequestHandlerContext): RequestListener {
  let count = context.earlierDeliveries;
  const nextId = (): string => `d${(count += 1)}`;
  return (incoming, response) => {
    // Closes the connection after the response. On a reused connection, some HTTP clients retry automatically, which
    // would look like a webhook retry.
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
    } else void receiveDelivery(opened, incoming, response, nextId, context);
  };
}

const isReachabilityRequest = ({ method }: IncomingMessage): boolean =>
  method === "GET" || method === "HEAD" || method === "OPTIONS";

/** Returns the last two segments of a path. The path can be longer, because a tunnel can add a prefix. */
function parsePath(url: string): { readonly token: string; readonly name: string } {
  const [name = "", token = ""] = (url.split("?", 1)[0] ?? "").split("/").toReversed();
  return { token, name };
}

async function receiveDelivery(
  { hook, nextReply, countOnly, take, whenReleased }: OpenHook,
  incoming: IncomingMessage,
  response: ServerResponse,
  nextId: () => string,
  { time, ignored, keepOpen, connections }: RequestHandlerContext,
): Promise<void> {
  const { socket } = incoming;
  if (countOnly()) {
    connections.mark(socket, "rejected");
    await skipBody(incoming);
    // Replies with success, because a failure would make the sender retry, and so add to the flood of deliveries.
    return connections.reject(socket, () => response.writeHead(204).end());
  }
  connections.mark(socket, "incomplete");
  const body = await readBody(incoming, hook.secret === null ? [] : [hook.secret, ...hook.otherSecrets]);
  if (body === null) {
    ignored.incomplete += 1;
    return;
  }
  connections.mark(socket, "complete");
  if (!body.isWhole) response.on("finish", () => socket.destroy());
  const received = receivedDelivery(nextId(), incoming, body, time);
  let changed: (reply: DeliveryReply) => void = () => {};
  const reply = startReply(body.isWhole ? nextReply() : tooLongReply, received, {
    response,
    now: time.now,
    change: (later) => changed(later),
    whenReleased,
    keepOpen,
  });
  changed = take(received, reply);
}

const tooLongReply = { kind: "status", status: 413 } as const;

const receivedDelivery = (
  id: string,
  incoming: IncomingMessage,
  body: ReceivedBody,
  time: ReceiverClock,
): ReceivedDelivery => ({
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
  computedSignature: body.signatures[0] ?? null,
  ...(body.signatures.length > 1 && { otherSignatures: body.signatures.slice(1) }),
});

/**
 * Starts the hexadecimal HMAC-SHA256 of a body: call `add` for each piece, and `signature` at the end. Source: Events,
 * "Delivery security and policy", item 1.
 */
export function startSigning(secret: string) {
  const hmac = createHmac("sha256", Buffer.from(secret, "utf8"));
  return { add: (piece: Uint8Array): void => void hmac.update(piece), signature: (): string => hmac.digest("hex") };
}

interface ReceivedBody {
  readonly body: Body;
  readonly signatures: readonly string[];
  readonly isWhole: boolean;
}

export const maxBodyBytes = 2 * 1024 * 1024;
/** Maximum number of bytes to read of the body of a delivery that is only counted. */
const maxSkippedBytes = 64 * 1024;

/** Reads a body without storing it. Resolves after `maxSkippedBytes`, or when the body or its connection has ended. */
function skipBody(incoming: IncomingMessage): Promise<void> {
  let bytes = 0;
  return new Promise((resolve) => {
    incoming.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= maxSkippedBytes) return;
      incoming.removeAllListeners("data").pause();
      resolve();
    });
    incoming.on("end", resolve);
    incoming.on("close", resolve);
  });
}

function readBody(incoming: IncomingMessage, secrets: readonly string[]): Promise<ReceivedBody | null> {
  const recorder = recordBody();
  const signings = secrets.map(startSigning);
  return new Promise((resolve) => {
    incoming.on("data", (piece: Buffer) => {
      recorder.add(piece);
      for (const signing of signings) signing.add(piece);
      if (recorder.bytes() <= maxBodyBytes) return;
      incoming.removeAllListeners("data").pause();
      resolve({ body: recorder.body(), signatures: [], isWhole: false });
    });
    incoming.on("end", () =>
      resolve({ body: recorder.body(), signatures: signings.map(({ signature }) => signature()), isWhole: true }),
    );
    incoming.on("error", () => resolve(null));
    incoming.on("close", () => resolve(null));
  });
}
