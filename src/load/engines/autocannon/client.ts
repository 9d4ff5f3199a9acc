import autocannon, { type CannonClient } from "autocannon";

import type { Network } from "../../../base/network/network.ts";
import type { Header } from "../../../evidence/exchange.ts";
import type { PreparedRequest } from "./request.ts";

/** Options for sending copies of one request over several connections. */
export interface AutocannonOptions extends PreparedRequest {
  readonly connections: number;
  /** Number of requests in all; `null` to send until `end` is called. */
  readonly amount: number | null;
  /** The client certificate, for a server that requires one. */
  readonly client: Network["client"];
  /** Maximum number of seconds until a response has arrived. */
  readonly timeoutSeconds: number;
}

/** Events of the connections. Each connection has one request in flight at a time. */
export interface AutocannonListener {
  readonly sent: (connection: number) => void;
  /** The head of a response has arrived. `rawHeaders` alternates names and values. */
  readonly head: (connection: number, status: number, rawHeaders: readonly string[]) => void;
  readonly answered: (connection: number, body: string) => void;
  /** A connection could not be opened, or broke. */
  readonly failed: (error: Error) => void;
  /** The connection has ended. A request in flight gets no response. */
  readonly ended: (connection: number) => void;
}

export interface AutocannonRun {
  /** Settles when every connection has ended. */
  readonly done: Promise<void>;
  /** Ends each connection with its next response. */
  readonly end: () => void;
  /** Ends all connections immediately. Requests in flight get no response. */
  readonly stop: () => void;
}

/** Number of consecutive failed connections after which autocannon gives up, because the server is down. */
const maxErrors = 200;
/** Duration for autocannon, which demands one. Every run ends earlier, by `end` or after its number of requests. */
const endlessSeconds = 1_000_000;

export function startAutocannon(options: AutocannonOptions, listener: AutocannonListener): AutocannonRun {
  const clients: CannonClient[] = [];
  let body = "";
  const setupClient = (client: CannonClient): void => {
    const connection = clients.push(client) - 1;
    client.on("request", () => listener.sent(connection));
    client.on("headers", (head: { readonly statusCode: number; readonly headers: readonly string[] }) =>
      listener.head(connection, head.statusCode, head.headers),
    );
    client.on("response", () => listener.answered(connection, body));
    client.on("connError", (error: Error) => listener.failed(error));
    client.on("done", () => listener.ended(connection));
  };
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const { pathname: path, search } = new URL(options.url);
  const instance = autocannon(
    {
      url: options.url,
      connections: options.connections,
      ...(options.amount === null ? {} : { amount: options.amount }),
      duration: endlessSeconds,
      sampleInt: 20,
      timeout: options.timeoutSeconds,
      bailout: maxErrors,
      setupClient,
      ...(options.client === null ? {} : { tlsOptions: options.client }),
      requests: [
        {
          method: options.method,
          path: path + search,
          headers: options.headers,
          ...(options.body === null ? {} : { body: options.body }),
          onResponse: (_status, text) => void (body = text),
        },
      ],
    },
    (error) => (error === null ? resolve() : reject(error)),
  );
  return {
    done,
    end: () => {
      for (const client of clients) client.responseMax = Math.max(1, client.reqsMade);
    },
    stop: () => instance.stop(),
  };
}

/** Pairs the names and values of raw headers, which alternate in one array. */
export const headersOf = (raw: readonly string[]): Header[] =>
  Array.from({ length: Math.floor(raw.length / 2) }, (_, at): Header => [raw[2 * at] ?? "", raw[2 * at + 1] ?? ""]);

/** Whether the server closes the connection after this response. */
export const closesConnection = (headers: readonly Header[]): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === "connection" && /\bclose\b/i.test(value));
