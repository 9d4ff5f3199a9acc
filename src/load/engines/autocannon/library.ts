import type { EventEmitter } from "node:events";
import { createRequire } from "node:module";

import type { Network } from "../../../base/network/network.ts";

/**
 * The part of autocannon that is used here. Its published types lag behind, so nothing else imports the library.
 *
 * Two of its traits are avoided: its rates are not paced, and the correction for coordinated omission that comes with them takes the
 * expected interval for one millisecond whatever the rate (without a rate it corrects nothing, and refuses to be told so); and at the
 * end of a duration it tears requests off that are on the way.
 */
interface CannonOptions {
  readonly url: string;
  readonly connections: number;
  readonly amount?: number;
  readonly duration: number;
  readonly sampleInt: number;
  /** Seconds. */
  readonly timeout: number;
  readonly bailout: number;
  readonly setupClient: (client: CannonClient) => void;
  readonly tlsOptions?: { readonly cert: string; readonly key: string };
  readonly requests: readonly CannonRequest[];
}

interface CannonRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Called when an answer is whole, just before its client's `response` event. */
  readonly onResponse: (status: number, body: string) => void;
}

/** One connection; after `responseMax` requests it ends by itself. */
interface CannonClient extends EventEmitter {
  responseMax: number | undefined;
  readonly reqsMade: number;
}

interface Instance {
  readonly stop: () => void;
}

type Autocannon = {
  (options: CannonOptions, done: (error: Error | null) => void): Instance;
};

const load = createRequire(import.meta.url);
const autocannon = load("autocannon") as Autocannon;

/** The installed version. */
export const autocannonVersion = (load("autocannon/package.json") as { readonly version: string }).version;

/** Requests that are all alike, over so many connections. */
export interface Barrage {
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
export interface BarrageListener {
  readonly sent: (connection: number) => void;
  /** `rawHeaders`: names and values in turn. */
  readonly head: (connection: number, status: number, rawHeaders: readonly string[]) => void;
  readonly answered: (connection: number, body: string) => void;
  /** The connection has ended; what it had on the way gets no answer. */
  readonly ended: (connection: number) => void;
}

export interface UnderFire {
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

export function fire(barrage: Barrage, listener: BarrageListener): UnderFire {
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
