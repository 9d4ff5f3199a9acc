import autocannon, { type CannonClient } from "autocannon";

import type { Network } from "../../../base/network/network.ts";

/** Requests that are all alike, over so many connections. */
export interface AutocannonOptions {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly connections: number;
  /** Exactly so many in all; `null`: until it is ended. */
  readonly amount: number | null;
  /** What is shown to a server that asks for a certificate. */
  readonly client: Network["client"];
  /** Longest time to an answer. */
  readonly timeoutSeconds: number;
}

/** Hears of what happens on each connection. One request at a time is on the way on each. */
export interface AutocannonListener {
  readonly sent: (connection: number) => void;
  /** `rawHeaders`: names and values in turn. */
  readonly head: (connection: number, status: number, rawHeaders: readonly string[]) => void;
  readonly answered: (connection: number, body: string) => void;
  /** The connection has ended; what it had on the way gets no answer. */
  readonly ended: (connection: number) => void;
}

export interface AutocannonRun {
  /** Settles when every connection has ended. */
  readonly done: Promise<void>;
  /** Each connection ends with the answer that it waits for. */
  readonly end: () => void;
  /** Ends at once; what is on the way gets no answer. */
  readonly stop: () => void;
}

/** So many connections in a row that fail mean that nobody is there. */
const mostErrors = 200;
/** Longer than any run: see `end`. */
const endlessSeconds = 1_000_000;

export function startAutocannon(barrage: AutocannonOptions, listener: AutocannonListener): AutocannonRun {
  const clients: CannonClient[] = [];
  let body = "";
  const setupClient = (client: CannonClient): void => {
    const connection = clients.push(client) - 1;
    client.on("request", () => listener.sent(connection));
    client.on("headers", (head: { readonly statusCode: number; readonly headers: readonly string[] }) =>
      listener.head(connection, head.statusCode, head.headers),
    );
    client.on("response", () => listener.answered(connection, body));
    client.on("done", () => listener.ended(connection));
  };
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const { pathname: path, search } = new URL(barrage.url);
  const instance = autocannon(
    {
      url: barrage.url,
      connections: barrage.connections,
      ...(barrage.amount === null ? {} : { amount: barrage.amount }),
      duration: endlessSeconds,
      sampleInt: 20,
      timeout: barrage.timeoutSeconds,
      bailout: mostErrors,
      setupClient,
      ...(barrage.client === null ? {} : { tlsOptions: barrage.client }),
      requests: [
        {
          method: barrage.method,
          path: path + search,
          headers: barrage.headers,
          ...(barrage.body === null ? {} : { body: barrage.body }),
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
