import type { Socket } from "node:net";

import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";

import { type Network, proxyFor } from "./network.ts";
import { secureOptions } from "./secure.ts";

/** Options for every connection, direct or through a proxy. In milliseconds. */
export interface ConnectionOptions {
  readonly connectMs: number;
  /** Longest wait from sending to the head, and between two pieces of a body; 0 for no limit. */
  readonly idleTimeoutMs: number;
  readonly maxHeaderSize?: number;
  readonly keepAliveMs?: number;
}

/** Sends requests: directly, or through the proxy for an address. */
export interface Dispatchers {
  readonly of: (url: string) => Dispatcher;
  /** Closes every connection at once. */
  readonly close: () => Promise<void>;
}

/** Opens a connection only when something is sent. */
export function openDispatchers(network: Network, options: ConnectionOptions): Dispatchers {
  const secure = secureOptions(network);
  const open = new Map<string | null, Dispatcher>();
  const opened = (proxy: string | null): Dispatcher =>
    proxy === null ? direct(secure, options) : through(proxy, secure, options);
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

type Secure = ReturnType<typeof secureOptions>;

const poolOptions = ({ idleTimeoutMs, maxHeaderSize, keepAliveMs }: ConnectionOptions) => ({
  headersTimeout: idleTimeoutMs,
  bodyTimeout: idleTimeoutMs,
  ...(maxHeaderSize === undefined ? {} : { maxHeaderSize }),
  ...(keepAliveMs === undefined ? {} : { keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs * 5 }),
});

const direct = (secure: Secure, options: ConnectionOptions): Dispatcher =>
  new Agent({
    connect: reportingBytesRead(buildConnector({ timeout: options.connectMs, ...secure })),
    ...poolOptions(options),
  });

/** https goes through a tunnel, http as requests in the absolute form. Source: RFC 9110, 9.3.6; RFC 9112, 3.2.2. */
const through = (proxy: string, secure: Secure, options: ConnectionOptions): Dispatcher =>
  new ProxyAgent({
    uri: proxy,
    proxyTunnel: false,
    connectTimeout: options.connectMs,
    requestTls: { timeout: options.connectMs, ...secure },
    proxyTls: { timeout: options.connectMs, ...secure },
    factory: (origin: URL | string, given: object) =>
      new Pool(origin, { ...given, ...poolOptions(options), ...connectOf(given) }),
  });

const connectOf = (given: object): { connect?: buildConnector.connector } =>
  "connect" in given && typeof given.connect === "function"
    ? { connect: reportingBytesRead(given.connect as buildConnector.connector) }
    : {};

/** Wraps a connector: adds the number of bytes read to each error of the connection, because a reset does not have it. */
const reportingBytesRead =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...connected) => {
      const [failed, socket] = connected;
      if (failed === null) {
        socket.prependListener("error", (error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }));
        endQuietly(socket);
      }
      callback(...connected);
    });

/**
 * Avoids the cost of thousands of stacks. When headers or trailers are too long, undici parses on to the end of its input and creates an error
 * for every line. The stacks of ten thousand errors take half a second, and a hostile target may do this each time.
 */
function endQuietly(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (error !== undefined && "code" in error && error.code === "UND_ERR_HEADERS_OVERFLOW") keepNoStacks();
    return destroy(error);
  };
}

/** Turns stacks off until the current tick ends. */
function keepNoStacks(): void {
  const limit = Error.stackTraceLimit;
  if (limit === 0) return;
  Error.stackTraceLimit = 0;
  process.nextTick(() => (Error.stackTraceLimit = limit));
}
