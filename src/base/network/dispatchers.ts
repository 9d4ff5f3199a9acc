import type { Socket } from "node:net";

import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";

import { type Network, proxyFor } from "./network.ts";
import { secureOptions } from "./secure.ts";

/** What holds for every connection, whichever way it is made. Milliseconds. */
export interface ConnectionOptions {
  readonly connectMs: number;
  /** From sending to the head, and between two pieces of a body; 0: no bound. */
  readonly idleTimeoutMs: number;
  readonly maxHeaderSize?: number;
  readonly keepAliveMs?: number;
}

/** Ways to send: straight, or through the proxy of an address. */
export interface Dispatchers {
  readonly of: (url: string) => Dispatcher;
  /** Ends every connection at once. */
  readonly close: () => Promise<void>;
}

/** Opens no connection before something is sent. */
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
  new Agent({ connect: telling(buildConnector({ timeout: options.connectMs, ...secure })), ...poolOptions(options) });

/** A tunnel for https; for http, requests in the absolute form. Source: RFC 9110, 9.3.6; RFC 9112, 3.2.2. */
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
    ? { connect: telling(given.connect as buildConnector.connector) }
    : {};

/** Connects, and lets the error of a connection tell how much it had already read: a bare reset does not say. */
const telling =
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
 * Of a head or of trailers that are too long, undici reads on through all that it was given, and makes an error of every line: the stacks of
 * some ten thousand errors take half a second, and a target may send such a head each time.
 */
function endQuietly(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (error !== undefined && "code" in error && error.code === "UND_ERR_HEADERS_OVERFLOW") keepNoStacks();
    return destroy(error);
  };
}

/** Until what runs now has come to its end. */
function keepNoStacks(): void {
  const limit = Error.stackTraceLimit;
  if (limit === 0) return;
  Error.stackTraceLimit = 0;
  process.nextTick(() => (Error.stackTraceLimit = limit));
}
