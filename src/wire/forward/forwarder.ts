import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

import type { Dispatcher } from "undici";

import { messageOf } from "../../base/errors.ts";
import { openDispatchers } from "../../base/network/dispatchers.ts";
import { type Network, plainNetwork } from "../../base/network/network.ts";
import {
  collectBody,
  endToEndHeaders,
  type ForwardingEnd,
  type ForwardedExchange,
  takeBody,
} from "./forwarded-exchange.ts";

/** Header that marks the forwarder's own 502 responses, sent if the upstream gives no response. */
export const ownResponseHeader = "X-Conformance-Proxy";

interface ForwarderOptions {
  /** Origin of the upstream, such as `https://api.example.com`. */
  readonly upstream: string;
  readonly network?: Network;
  readonly host: string;
  /** Port to listen on. 0: any free port. */
  readonly port: number;
  /** Certificate and key in PEM, to serve HTTPS; `null` for HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly now: () => number;
  /** Called at the end of each exchange. It must be fast, because it delays the responses to all clients. */
  readonly onExchange: (exchange: ForwardedExchange) => void;
}

export interface Forwarder {
  readonly origin: string;
  /** Stops the forwarder at once, and aborts the requests in progress. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a reverse proxy that forwards all data immediately. It drops hop-by-hop headers, such as `Connection`.
 *
 * @throws {Error} Node's error, with its `code`, if the proxy cannot listen
 */
export async function startForwarder(options: ForwarderOptions): Promise<Forwarder> {
  const { network = plainNetwork, host, port, upstream } = options;
  const dispatchers = openDispatchers(network, {
    connectMs: connectTimeoutMs,
    idleTimeoutMs: 0,
    maxHeaderSize,
    keepAliveMs: 2000,
  });
  const context = { ...options, dispatcher: dispatchers.of(upstream), upstreamHost: new URL(upstream).host };
  const server = createListener(options, (incoming, response) => forward(incoming, response, context));
  server.listen(port, host);
  await once(server, "listening");
  const { port: taken } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    origin: `${options.tls === null ? "http" : "https"}://${name}:${taken}`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, dispatchers.close()]);
    },
  };
}

const connectTimeoutMs = 10_000;
const maxHeaderSize = 128 * 1024;
/**
 * Time for which idle client connections stay open. Most clients close them earlier. With a shorter time, the forwarder
 * could close a connection that a client is reusing.
 */
const keepAliveMs = 72_000;

function createListener({ tls }: ForwarderOptions, listener: RequestListener): Server {
  const options = { maxHeaderSize, requireHostHeader: false, keepAliveTimeout: keepAliveMs, requestTimeout: 0 };
  return tls === null ? createServer(options, listener) : createSecureServer({ ...options, ...tls }, listener);
}

interface ForwardContext extends ForwarderOptions {
  readonly dispatcher: Dispatcher;
  readonly upstreamHost: string;
}

function forward(incoming: IncomingMessage, response: ServerResponse, context: ForwardContext): void {
  const { upstream, dispatcher, now } = context;
  const [method, path] = [incoming.method ?? "GET", pathOf(incoming.url ?? "/")];
  const requestBody = collectBody(now);
  const exchange = openExchange(incoming, response, { ...context, url: upstream + path, requestBody });
  takeBody(incoming, requestBody.add, (body) => {
    const headers = ["Host", context.upstreamHost, ...endToEndHeaders(incoming.rawHeaders, ["host", "expect"])];
    exchange.sent();
    try {
      dispatcher.dispatch({ origin: upstream, path, method, headers, body }, exchange);
    } catch (error) {
      exchange.fail(messageOf(error));
    }
  });
}

/** Returns the path and query from a request line. Some clients send a whole URL there, as to a forward proxy. */
function pathOf(target: string): string {
  if (target.startsWith("/")) return target;
  return URL.canParse(target) ? new URL(target).pathname + new URL(target).search : "/";
}

interface ExchangeContext extends ForwardContext {
  readonly url: string;
  readonly requestBody: ReturnType<typeof collectBody>;
}

function openExchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  { now, url, requestBody, onExchange }: ExchangeContext,
) {
  const responseBody = collectBody(now);
  let controller: Dispatcher.DispatchController | null = null;
  let head: ForwardedExchange["head"] = null;
  let sentMs = now();
  let isOver = false;
  let hasData = false;

  const end = (how: ForwardingEnd): void => {
    if (isOver) return;
    isOver = true;
    onExchange({
      method: incoming.method ?? "GET",
      url,
      requestHeaders: incoming.rawHeaders,
      requestBody: requestBody.body(),
      sentMs,
      head,
      responseBody: responseBody.body(),
      endMs: now(),
      end: how,
    });
  };
  const fail = (detail: string): void => {
    end({ kind: "no response", detail });
    sendBadGateway(response, detail);
  };
  response.on("close", () => {
    if (isOver) return;
    end({ kind: "client left" });
    controller?.abort(new Error("the client left"));
  });

  return {
    sent: (): void => void (sentMs = now()),
    fail,
    onRequestStart: (started: Dispatcher.DispatchController): void => {
      controller = started;
      if (isOver) controller.abort(new Error("the client left"));
    },
    onResponseStart: (
      { rawHeaders }: Dispatcher.DispatchController,
      status: number,
      _: unknown,
      reason?: string,
    ): void => {
      if (status < 200 || isOver) return;
      const headers = rawHeaderTexts(rawHeaders);
      head = { status, headers, headMs: now() };
      response.sendDate = false;
      response.writeHead(status, reason ?? "", endToEndHeaders(headers));
      // Delays the response head by one event-loop turn, so that it can be sent together with body data.
      setImmediate(() => {
        if (!hasData && !response.writableEnded && !response.destroyed) response.flushHeaders();
      });
    },
    onResponseData: (source: Dispatcher.DispatchController, piece: Buffer): void => {
      if (isOver) return;
      hasData = true;
      responseBody.add(piece);
      if (response.write(piece)) return;
      source.pause();
      response.once("drain", () => source.resume());
    },
    onResponseEnd: (_: Dispatcher.DispatchController, trailers: Record<string, string | string[]>): void => {
      if (isOver) return;
      if (Object.keys(trailers).length > 0) response.addTrailers(trailers);
      response.end();
      end({ kind: "complete" });
    },
    onResponseError: (_: Dispatcher.DispatchController, error: Error): void => {
      if (isOver) return;
      if (head === null) return fail(messageOf(error));
      end({ kind: "broken", detail: messageOf(error) });
      response.destroy();
    },
  };
}

/** Reads the headers as Latin-1, which keeps all bytes above 127. */
function rawHeaderTexts(raw: unknown): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((part: unknown) => (Buffer.isBuffer(part) ? part.toString("latin1") : String(part)));
}

function sendBadGateway(response: ServerResponse, detail: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const text = `The upstream gave no response: ${detail}\n`;
  response.writeHead(502, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
    [ownResponseHeader]: "no response from the upstream",
  });
  response.end(text);
}
