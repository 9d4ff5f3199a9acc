import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";

import { listenOnLoopback } from "../base/network/network.ts";
import type { SentRequest } from "../evidence/exchange.ts";
import type { ClientCall } from "../evidence/client-call.ts";
import { headerNames } from "../spec/headers.ts";
import { parseRawHeaders, recordBody } from "../wire/record-body.ts";
import { openResponse, type OutgoingResponse, openRelay, type Relay, type RelayedRequest } from "./relay.ts";
import type { Trouble } from "./trouble.ts";

interface GatewayOptions {
  readonly upstream: string;
  /** Certificate chain and private key for HTTPS, both as PEM. `null`: the gateway speaks HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Host name in the base URL that the client gets. It must resolve to this machine. */
  readonly host: string;
  readonly key: { readonly name: string; readonly text: string };
  /** Returns the milliseconds since the start of the run. */
  readonly now: () => number;
}

/**
 * Chooses the error or unusual response for a request; `null` for the reference server's own response. `isOwnKey`:
 * whether the request has the API key that the harness gave to the client.
 */
export type ChooseTrouble = (request: SentRequest, isOwnKey: boolean) => Trouble | null;

/** An HTTP proxy between the tested client and the reference server. It records and changes exchanges. */
export interface Gateway {
  readonly baseUrl: string;
  /** Begins a run of the client: forgets the calls of the last run. `choose` selects the responses to change. */
  readonly begin: (choose: ChooseTrouble) => void;
  /**
   * Ends the run: waits for open requests, for at most 2 s, and then closes their connections. Resolves to all calls
   * since `begin`, by arrival. Until the next `begin`, closes the connection of each request.
   */
  readonly finish: () => Promise<readonly ClientCall[]>;
  readonly close: () => Promise<void>;
}

const maxBodyBytes = 64 * 1024 * 1024;
/** Time for which `finish` waits for open requests before it closes their connections. */
const maxFinishMs = 2000;

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { tls, host, now, upstream } = options;
  const relay = openRelay(new URL(upstream).origin);
  let calls: ClientCall[] = [];
  let choose: ChooseTrouble = () => null;
  let count = 0;
  let isRunning = false;
  const open = new Set<Promise<void>>();
  const listener = (incoming: IncomingMessage, raw: ServerResponse): void => {
    if (!isRunning) return void incoming.socket.destroy();
    count += 1;
    const handling = handle(`x${count}`, incoming, raw);
    open.add(handling);
    void handling.finally(() => open.delete(handling));
  };
  const server = createListener(tls, listener);
  const port = await listenOnLoopback(server);
  const origin = `${tls === null ? "http" : "https"}://${host}:${port}`;

  async function handle(id: string, incoming: IncomingMessage, raw: ServerResponse): Promise<void> {
    const [sentMs, receivedUnixMs] = [now(), Date.now()];
    const response = openResponse(raw, now);
    const received = await readRequest(incoming, origin);
    const isOwnKey = incoming.headers.authorization?.replace(/^bearer /i, "") === options.key.text;
    const trouble = received.isComplete ? choose(received.request, isOwnKey) : null;
    if (received.isComplete) await respondOrRefuse(received.relayed, response, trouble, relay);
    if (!response.closed.aborted) await once(response.closed, "abort");
    const { answer, leftMs } = response.recorded();
    const exchange = { id, key: isOwnKey ? options.key.name : null, request: received.request, sentMs, clockMs: 0 };
    calls.push({
      exchange: { ...exchange, answer, since: "1.2" },
      trouble: trouble?.name ?? null,
      leftMs,
      receivedUnixMs,
    });
  }

  const finish = async (): Promise<readonly ClientCall[]> => {
    const timer = setTimeout(() => {
      isRunning = false;
      server.closeAllConnections();
    }, maxFinishMs);
    while (open.size > 0) await Promise.all(open);
    clearTimeout(timer);
    isRunning = false;
    return calls.toSorted((one, other) => one.exchange.sentMs - other.exchange.sentMs);
  };
  return {
    baseUrl: `${origin}/v1`,
    begin: (chooser) => {
      calls = [];
      choose = chooser;
      isRunning = true;
    },
    finish,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await relay.close();
    },
  };
}

function createListener(tls: GatewayOptions["tls"], listener: RequestListener): Server {
  const options = { requireHostHeader: false, keepAliveTimeout: 72_000, requestTimeout: 0 };
  return tls === null ? createServer(options, listener) : createSecureServer({ ...options, ...tls }, listener);
}

interface ReceivedRequest {
  readonly request: SentRequest;
  readonly relayed: RelayedRequest;
  readonly isComplete: boolean;
}

async function readRequest(incoming: IncomingMessage, origin: string): Promise<ReceivedRequest> {
  const { method = "GET", url: path = "/" } = incoming;
  const headers = parseRawHeaders(incoming.rawHeaders);
  const body = recordBody();
  const pieces: Buffer[] = [];
  const received = (isComplete: boolean): ReceivedRequest => ({
    request: { method, url: `${origin}${path}`, headers, body: body.body() },
    relayed: { method, path, headers, body: Buffer.concat(pieces) },
    isComplete,
  });
  try {
    for await (const piece of incoming) {
      body.add(piece as Buffer);
      pieces.push(piece as Buffer);
      if (body.bytes() > maxBodyBytes) incoming.destroy();
    }
    return received(true);
  } catch {
    return received(false);
  }
}

/** Responds to a request, or refuses it if forwarding fails, for example because of an invalid path. */
async function respondOrRefuse(...args: Parameters<typeof respond>): Promise<void> {
  const [, response] = args;
  await respond(...args).catch(() => {
    if (!response.closed.aborted) sendRefusal(response, unreadablePath);
  });
}

async function respond(
  request: RelayedRequest,
  response: OutgoingResponse,
  trouble: Trouble | null,
  relay: Relay,
): Promise<void> {
  switch (trouble?.kind) {
    case undefined:
      return relay.pass(request, response);
    case "refuse":
      return sendRefusal(response, trouble);
    case "reset":
      await relay.run(request, response.closed);
      return response.reset();
    case "edit":
      return relay.edit(request, response, trouble.edit);
    case "stream":
      return relay.reshape(request, response, trouble.shape);
    case "pages":
      return relay.pass(withPageLimit(request, trouble.limit), response);
  }
}

type Refusal = Pick<Extract<Trouble, { kind: "refuse" }>, "status" | "headers" | "body">;

const unreadablePath: Refusal = {
  status: 400,
  headers: [["Content-Type", "application/json"]],
  body: JSON.stringify({ error: { code: "INVALID_INPUT", message: "The path cannot be read.", status: 400 } }),
};

function sendRefusal(response: OutgoingResponse, { status, headers, body }: Refusal): void {
  response.head(status, [...headers, ["Content-Length", String(Buffer.byteLength(body))]]);
  response.end(body);
}

/** Sets `limit` in a request's query. Removes the client's signature, which would no longer match the path. */
function withPageLimit(request: RelayedRequest, limit: number): RelayedRequest {
  const [path = "", query = ""] = request.path.split("?", 2);
  const parameters = new URLSearchParams(query);
  parameters.set("limit", String(limit));
  const signatureHeaders = [headerNames.signature, headerNames.timestamp].map((name) => name.toLowerCase());
  const headers = request.headers.filter(([name]) => !signatureHeaders.includes(name.toLowerCase()));
  return { ...request, headers, path: `${path}?${parameters.toString()}` };
}
