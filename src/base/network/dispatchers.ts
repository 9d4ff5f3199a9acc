import type { Socket } from "node:net";

import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";

import { type HarnessLimit, harnessLimitOf } from "../harness-limit.ts";
import { type Network, proxyFor } from "./network.ts";
import { tlsOptions } from "./tls-options.ts";

/** Options for every connection, direct or through a proxy. Times are in milliseconds. */
export interface ConnectionOptions {
  readonly connectMs: number;
  /** Longest wait for the head of a response, and between two pieces of its body; 0 for no limit. */
  readonly idleTimeoutMs: number;
  readonly maxHeaderSize?: number;
  readonly keepAliveMs?: number;
  /** Called if this machine has no free port or file for a connection, which says nothing about the server. */
  readonly onHarnessLimit?: (limit: HarnessLimit) => void;
}

/** Opens connections to servers, directly or through the proxy that the network sets for the URL. */
export interface Dispatchers {
  readonly of: (url: string) => Dispatcher;
  /** Closes every connection at once. */
  readonly close: () => Promise<void>;
}

/** Prepares to send requests. Opens a connection only when a request is sent. */
export function openDispatchers(network: Network, options: ConnectionOptions): Dispatchers {
  const secure = tlsOptions(network);
  const onFailure = limitReporter(options);
  const open = new Map<string | null, Dispatcher>();
  const opened = (proxy: string | null): Dispatcher =>
    proxy === null ? directDispatcher(secure, options, onFailure) : proxyDispatcher(proxy, secure, options, onFailure);
  return {
    of: (url) => {
      const proxy = proxyFor(network, url);
      const dispatcher = open.get(proxy) ?? opened(proxy);
      open.set(proxy, dispatcher);
      return dispatcher;
    },
    close: async () => {
      await Promise.all([...open.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

type TlsOptions = ReturnType<typeof tlsOptions>;

const poolOptions = ({ idleTimeoutMs, maxHeaderSize, keepAliveMs }: ConnectionOptions) => ({
  headersTimeout: idleTimeoutMs,
  bodyTimeout: idleTimeoutMs,
  ...(maxHeaderSize === undefined ? {} : { maxHeaderSize }),
  ...(keepAliveMs === undefined ? {} : { keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs * 5 }),
});

const directDispatcher = (secure: TlsOptions, options: ConnectionOptions, onFailure: OnConnectResult): Dispatcher =>
  new Agent({
    connect: reportConnectResult(buildConnector({ timeout: options.connectMs, ...secure }), onFailure),
    ...poolOptions(options),
  });

/**
 * Sends https requests through a tunnel (CONNECT), and http requests with the whole URL in the request line. Source:
 * RFC 9110, 9.3.6; RFC 9112, 3.2.2.
 */
const proxyDispatcher = (
  proxy: string,
  secure: TlsOptions,
  options: ConnectionOptions,
  onFailure: OnConnectResult,
): Dispatcher =>
  new ProxyAgent({
    uri: proxy,
    proxyTunnel: false,
    connectTimeout: options.connectMs,
    requestTls: { timeout: options.connectMs, ...secure },
    proxyTls: { timeout: options.connectMs, ...secure },
    factory: (origin: URL | string, given: object) =>
      new Pool(origin, { ...given, ...poolOptions(options), ...connectOf(given, onFailure) }),
  });

const connectOf = (given: object, onFailure: OnConnectResult): { connect?: buildConnector.connector } =>
  "connect" in given && typeof given.connect === "function"
    ? { connect: reportConnectResult(given.connect as buildConnector.connector, onFailure) }
    : {};

/** Called after each attempt to connect, with the error or, after a success, with `null`. */
type OnConnectResult = (failed: Error | null) => void;

/**
 * Before the first successful connection, `EADDRNOTAVAIL` means a wrong address. Afterwards it means that no port is
 * free.
 */
function limitReporter({ onHarnessLimit }: ConnectionOptions): OnConnectResult {
  let hasConnected = false;
  return (failed) => {
    hasConnected ||= failed === null;
    const limit = harnessLimitOf(failed);
    if (limit !== null && (hasConnected || limit.code !== "EADDRNOTAVAIL")) onHarnessLimit?.(limit);
  };
}

/**
 * Wraps a connector. Adds to each error of a connection how many bytes were read before, which the error itself does
 * not say.
 */
const reportConnectResult =
  (connect: buildConnector.connector, onFailure: OnConnectResult): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...connected) => {
      const [failed, socket] = connected;
      onFailure(failed);
      if (failed === null) {
        socket.prependListener("error", (error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }));
        avoidStackTraces(socket);
      }
      callback(...connected);
    });

/**
 * Ends a connection without creating thousands of stack traces. If headers or trailers are too long, undici creates an
 * error for every further line of its input. Ten thousand stack traces take half a second, and a hostile target can
 * cause them with every response.
 */
function avoidStackTraces(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (error !== undefined && "code" in error && error.code === "UND_ERR_HEADERS_OVERFLOW") skipStackTraces();
    return destroy(error);
  };
}

/** Turns stack traces off until the event loop goes on. */
function skipStackTraces(): void {
  const limit = Error.stackTraceLimit;
  if (limit === 0) return;
  Error.stackTraceLimit = 0;
  process.nextTick(() => (Error.stackTraceLimit = limit));
}
