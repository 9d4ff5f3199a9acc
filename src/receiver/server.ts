import { createServer, type Server } from "node:http";
import { isIPv6 } from "node:net";
import { request } from "undici";
import { errorCodeOrText } from "../base/errors.ts";
import { openDispatchers } from "../base/network/dispatchers.ts";
import type { Network } from "../base/network/network.ts";
import { unansweredBy } from "../wire/describe-error.ts";
import type { Duplex } from "node:stream";
import { availableFiles } from "../base/harness-limit.ts";

export class ReceiverError extends Error {
  override readonly name = "ReceiverError";
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export function readListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535 || (bracketed !== undefined && !isIPv6(bracketed)))
    throw new ReceiverError(
      `\`webhooks.listen\` is ${JSON.stringify(text)}; give a host and a port, such as "127.0.0.1:0" (0 takes a free port).`,
    );
  return { host, port: Number(port) };
}

export const formatAddress = ({ host, port }: ListenAddress): string => `${isIPv6(host) ? `[${host}]` : host}:${port}`;

const isWildcard = (host: string): boolean => host === "0.0.0.0" || /^[0:]+$/.test(host);

export function baseUrlFor(listening: ListenAddress, publicUrl: string | null): string {
  if (publicUrl !== null) return readPublicUrl(publicUrl);
  if (isWildcard(listening.host))
    throw new ReceiverError(
      `\`webhooks.listen\` is ${formatAddress(listening)}, which no target can call. Give the address that it can call under \`webhooks.publicUrl\`.`,
    );
  return `http://${formatAddress(listening)}`;
}

function readPublicUrl(text: string): string {
  const url = URL.parse(text);
  const wrong = (what: string): ReceiverError =>
    new ReceiverError(
      `\`webhooks.publicUrl\` is ${JSON.stringify(text)}: ${what}. Give one like "https://tunnel.example/hook".`,
    );
  if (url === null) throw wrong("it is no URL");
  if (url.username !== "" || url.password !== "")
    throw new ReceiverError(
      "`webhooks.publicUrl` has a user name or a password, which would be written into the evidence. Take it out.",
    );
  if (url.protocol !== "http:" && url.protocol !== "https:") throw wrong("it is neither http nor https");
  if (url.search !== "" || url.hash !== "") throw wrong("it has a query string or a fragment");
  return text.replace(/[?#]*$/, "").replace(/\/+$/, "");
}

/** Time within which the head of a request must arrive. A slower sender is disconnected. */
const headDeadlineMs = 5000;

export function openServer(requestDeadlineMs: number): Server {
  return createServer({
    requestTimeout: requestDeadlineMs,
    headersTimeout: Math.min(headDeadlineMs, requestDeadlineMs),
    keepAliveTimeout: requestDeadlineMs,
    connectionsCheckingInterval: Math.min(1000, requestDeadlineMs),
    maxHeaderSize: 64 * 1024,
    requireHostHeader: false,
  });
}

/** Maximum number of connections that wait until Node accepts them. 4096 is the maximum on Linux by default. */
const maxPendingConnections = 4096;

export async function listen(server: Server, { host, port }: ListenAddress): Promise<ListenAddress> {
  const bound = Promise.withResolvers<void>();
  server.on("error", bound.reject);
  server.listen({ port, host, backlog: maxPendingConnections }, bound.resolve);
  try {
    await bound.promise;
  } catch (error) {
    const reason = errorCodeOrText(error);
    throw new ReceiverError(
      `The receiver cannot listen on ${formatAddress({ host, port })} (${reason}). Give another host and port under \`webhooks.listen\`.`,
    );
  }
  const taken = server.address();
  if (taken === null || typeof taken === "string") throw new Error("the receiver listens on no port");
  return { host, port: taken.port };
}

const reachabilityDeadlineMs = 5000;
/**
 * Maximum length of a response to read. The receiver's own response is much shorter, so a longer one is from another
 * server.
 */
const maxResponseBytes = 4096;

/**
 * Sends a GET request to `url`, an address below `publicUrl`. Returns `null` if the response is 200 with the text
 * `expected`. Otherwise, returns a message for the user: the public URL does not lead to the receiver.
 */
export async function testPublicUrl(
  publicUrl: string,
  url: string,
  expected: string,
  network: Network,
): Promise<string | null> {
  const dispatchers = openDispatchers(withoutEnvironmentProxy(network), {
    connectMs: reachabilityDeadlineMs,
    idleTimeoutMs: reachabilityDeadlineMs,
  });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher: dispatchers.of(url),
      signal: AbortSignal.timeout(reachabilityDeadlineMs),
    });
    let text = "";
    for await (const piece of body) {
      text += String(piece);
      if (text.length > maxResponseBytes) break;
    }
    if (statusCode === 200 && text === expected) return null;
    return unreachableMessage(publicUrl, `something else answered ${statusCode}`);
  } catch (error) {
    const isOverdue = error instanceof Error && error.name === "TimeoutError";
    const silence = isOverdue ? `no answer within ${reachabilityDeadlineMs / 1000} s` : null;
    return unreachableMessage(publicUrl, unansweredBy(error, silence, 0).detail);
  } finally {
    await dispatchers.close();
  }
}

/** Removes a proxy that is set by environment variables, because such a proxy may not reach this machine. */
const withoutEnvironmentProxy = (network: Network): Network =>
  network.proxy.kind === "always" ? network : { ...network, proxy: { kind: "none" } };

const unreachableMessage = (publicUrl: string, why: string): string =>
  `\`webhooks.publicUrl\` ${publicUrl} does not lead to the receiver: ${why}. Look whether the tunnel forwards to the address under \`webhooks.listen\`.`;

/**
 * State of a connection to the receiver. `silent`: no request head has arrived. `incomplete`: a body is still arriving.
 * `complete`: a request has arrived. `rejected`: the receiver will refuse the request, or only count it.
 */
type ConnectionState = "silent" | "incomplete" | "complete" | "rejected";

/** The open connections of a receiver. Their number is limited. */
export interface Connections {
  readonly mark: (connection: Duplex, state: ConnectionState) => void;
  /**
   * Marks a connection as `rejected`. After at most a second, calls `refuse`, which must respond or close the
   * connection. Does not call `refuse` if the connection has closed by then.
   */
  readonly reject: (connection: Duplex, refuse: () => void) => void;
  readonly refusedCount: () => number;
}

/** Maximum number of open connections. Each connection takes 16 to 75 KB of memory, depending on the request head. */
export const maxConnections = 2500;
/** Number of file descriptors that the receiver leaves free for other parts of the process. */
const reservedFiles = 192;
const minConnections = 32;

/**
 * Returns how many connections the receiver may keep open. If the process can open few files, the number is below
 * `maxConnections`: without a free file descriptor, Node would silently close new connections.
 */
const affordableConnections = (): number =>
  Math.max(minConnections, Math.min(maxConnections, availableFiles(maxConnections + reservedFiles) - reservedFiles));

/**
 * Time within which most connections bring a delivery. An older connection without a delivery will probably never bring
 * one.
 */
const usualDeliveryMs = 1000;
/**
 * The order in which connections are closed if too many are open. Each entry skips connections that have been in their
 * state for less than `minAgeMs`. A `complete` connection is never closed.
 */
const closingOrder = [
  { state: "rejected", minAgeMs: 0 },
  { state: "silent", minAgeMs: usualDeliveryMs },
  { state: "incomplete", minAgeMs: usualDeliveryMs },
  { state: "silent", minAgeMs: 0 },
  { state: "incomplete", minAgeMs: 0 },
] as const;

/** A refusal waits 2 ms per open rejected connection, e.g. 200 ms for 100. This slows down a flood of connections. */
const refusalDelayMs = 2;
const maxRefusalDelayMs = 1000;

/**
 * Limits a server's open connections. If too many are open, closes the connection that is least likely to bring a
 * delivery.
 */
export function limitConnections(server: Server, now = () => performance.now()): Connections {
  const max = affordableConnections();
  const states = new Map<Duplex, ConnectionState>();
  const sinceMs = { silent: new Map(), incomplete: new Map(), complete: new Map(), rejected: new Map() } as Record<
    ConnectionState,
    Map<Duplex, number>
  >;
  let refused = 0;

  const remove = (connection: Duplex): void => {
    const state = states.get(connection);
    if (state !== undefined) sinceMs[state].delete(connection);
    states.delete(connection);
  };
  const setState = (connection: Duplex, state: ConnectionState): void => {
    remove(connection);
    states.set(connection, state);
    sinceMs[state].set(connection, now());
  };
  const mark = (connection: Duplex, state: ConnectionState): void => {
    if (states.has(connection)) setState(connection, state);
  };
  const closeOne = (): void => {
    const nowMs = now();
    for (const { state, minAgeMs } of closingOrder) {
      const [oldest] = sinceMs[state];
      if (oldest === undefined) continue;
      const [connection, stateSinceMs] = oldest;
      if (nowMs - stateSinceMs < minAgeMs) continue;
      if (state === "incomplete" || (state === "silent" && minAgeMs === 0)) refused += 1;
      remove(connection);
      connection.destroy();
      return;
    }
  };

  server.on("connection", (connection) => {
    setState(connection, "silent");
    connection.on("close", () => remove(connection));
    if (states.size > max) closeOne();
  });
  // Node emits `error` if it fails to accept a connection for another reason than too many open files.
  server.on("error", () => void (refused += 1));

  return {
    mark,
    reject: (connection, refuse) => {
      mark(connection, "rejected");
      const timer = setTimeout(refuse, Math.min(maxRefusalDelayMs, sinceMs.rejected.size * refusalDelayMs));
      connection.on("close", () => clearTimeout(timer));
    },
    refusedCount: () => refused,
  };
}
