import type { Socket } from "node:net";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";

import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";

import { type HarnessLimitError, harnessLimitOf } from "../harness-limit.ts";
import { getOrAdd } from "../memoize.ts";
import { type Network, proxyFor } from "./network.ts";

interface ConnectionOptions {
  readonly connectMs: number;
  /** Maximum wait for the headers of a response, and between two pieces of its body; 0 for no limit. */
  readonly idleTimeoutMs: number;
  readonly maxHeaderSize?: number;
  readonly keepAliveMs?: number;
  readonly onHarnessLimit?: (limit: HarnessLimitError) => void;
}

interface Dispatchers {
  readonly of: (url: string) => Dispatcher;
  readonly close: () => Promise<void>;
}

/** Creates undici dispatchers on first use: one for each proxy of the network, and one for direct connections. */
export function openDispatchers(network: Network, options: ConnectionOptions): Dispatchers {
  const secure = tlsOptions(network);
  const onResult = limitReporter(options);
  const open = new Map<string | null, Dispatcher>();
  const openFor = (proxy: string | null): Dispatcher =>
    proxy === null ? directDispatcher(secure, options, onResult) : proxyDispatcher(proxy, secure, options, onResult);
  return {
    of: (url) => {
      const proxy = proxyFor(network, url);
      return getOrAdd(open, proxy, () => openFor(proxy));
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

const directDispatcher = (secure: TlsOptions, options: ConnectionOptions, onResult: OnConnectResult): Dispatcher =>
  new Agent({
    connect: reportConnectResult(buildConnector({ timeout: options.connectMs, ...secure }), onResult),
    ...poolOptions(options),
  });

/** Creates a proxy dispatcher: `CONNECT` for https (RFC 9110, 9.3.6), absolute URLs for http (RFC 9112, 3.2.2). */
const proxyDispatcher = (
  proxy: string,
  secure: TlsOptions,
  options: ConnectionOptions,
  onResult: OnConnectResult,
): Dispatcher =>
  new ProxyAgent({
    uri: proxy,
    proxyTunnel: false,
    connectTimeout: options.connectMs,
    requestTls: { timeout: options.connectMs, ...secure },
    proxyTls: { timeout: options.connectMs, ...secure },
    factory: (origin: URL | string, given: object) =>
      new Pool(origin, { ...given, ...poolOptions(options), ...connectOf(given, onResult) }),
  });

const connectOf = (given: object, onResult: OnConnectResult): { connect?: buildConnector.connector } =>
  "connect" in given && typeof given.connect === "function"
    ? { connect: reportConnectResult(given.connect as buildConnector.connector, onResult) }
    : {};

type OnConnectResult = (failed: Error | null) => void;

/**
 * Returns a callback for connection attempts. It calls `onHarnessLimit` if this machine has run out of a resource, such
 * as ports. Before the first successful connection, `EADDRNOTAVAIL` means a wrong address and is ignored.
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
 * Wraps an undici connector, and reports the result of each connection attempt. Adds `bytesRead` to socket errors. If a
 * request fails without a response, a value above 0 shows that its connection served earlier requests.
 */
const reportConnectResult =
  (connect: buildConnector.connector, onResult: OnConnectResult): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...connected) => {
      const [failed, socket] = connected;
      onResult(failed);
      if (failed === null) {
        socket.prependListener("error", (error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }));
        avoidStackTraces(socket);
      }
      callback(...connected);
    });

/** Turns off stack traces if headers exceed `maxHeaderSize`: undici creates an error for each header beyond it. */
function avoidStackTraces(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (error !== undefined && "code" in error && error.code === "UND_ERR_HEADERS_OVERFLOW") skipStackTraces();
    return destroy(error);
  };
}

function skipStackTraces(): void {
  const limit = Error.stackTraceLimit;
  if (limit === 0) return;
  Error.stackTraceLimit = 0;
  process.nextTick(() => (Error.stackTraceLimit = limit));
}

/** Creates TLS options, empty if Node's defaults suffice. Call only once per network: a call takes milliseconds. */
export function tlsOptions({ ca, client }: Network): { readonly secureContext?: SecureContext } {
  if (ca === null && client === null) return {};
  return {
    secureContext: createSecureContext({
      ...(ca === null ? {} : { ca: [...getCACertificates("default"), ca] }),
      ...(client === null ? {} : client),
    }),
  };
}
