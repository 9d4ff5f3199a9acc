import { listenOnLoopback } from "../../base/network/network.ts";
import type { Header } from "../../evidence/exchange.ts";
import { headerOf } from "../mutants/edits.ts";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import type { Target } from "../../target/target.ts";
import { eventRewriter, type Mutation, type Upstream } from "./mutations/mutation.ts";
import { type RequestTraits, type WireHead, type WireResponse } from "./dimensions.ts";
import { type PendingRequest, traitReader, type WireRequest } from "./request-traits.ts";

export interface ProxyChange {
  readonly matches: (traits: RequestTraits) => boolean;
  readonly mutation: Mutation;
}

/** A callback for each request. Called once the headers of the response have arrived, before any mutation. */
type ProxyListener = (traits: RequestTraits, request: WireRequest) => void;

/**
 * Headers that the proxy does not forward: those of a single connection (RFC 9110, 7.6.1), and `Content-Length`, which
 * the proxy sets itself.
 */
const hopHeaders = new Set(["connection", "keep-alive", "transfer-encoding", "content-length"]);

interface ProxyContext {
  readonly target: Target;
  readonly port: number;
  readonly agent: Agent;
  readonly beginRequest: (request: WireRequest) => PendingRequest;
  readonly change: ProxyChange | null;
  readonly listener: ProxyListener | null;
  /** Counts a response that the mutation was to change. */
  readonly count: (isChanged: boolean) => void;
  readonly unrestrictedKey: string;
}

export async function startWireProxy(
  target: Target,
  change: ProxyChange | null,
  listener: ProxyListener | null = null,
) {
  const url = new URL(target.baseUrl);
  const agent = new Agent({ keepAlive: true });
  let changedCount = 0;
  const context: ProxyContext = {
    target,
    port: Number(url.port),
    agent,
    beginRequest: traitReader(target),
    change,
    listener,
    count: (isChanged) => void (changedCount += Number(isChanged)),
    unrestrictedKey: unrestrictedKeyOf(target),
  };
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    forwardRequest(context, request, response).catch(() => response.destroy());
  });
  url.port = String(await listenOnLoopback(server));
  return {
    target: { ...target, baseUrl: url.href.replace(/\/$/, "") },
    /** Returns the number of responses that the mutation has changed so far. */
    changedCount: () => changedCount,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

/** Returns an enterprise key, else the first key. Enterprise keys are rarely refused: most probes use other keys. */
function unrestrictedKeyOf({ keys }: Target): string {
  const found = Object.values(keys).find(({ tier, expired }) => tier === "enterprise" && !expired);
  return (found ?? Object.values(keys)[0])?.key ?? "";
}

async function forwardRequest(
  context: ProxyContext,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const request: WireRequest = {
    method: incoming.method ?? "GET",
    path: incoming.url ?? "/",
    headers: pairsOf(incoming.rawHeaders),
    body: await buffer(incoming),
  };
  const pending = context.beginRequest(request);
  try {
    await answer(context, request, pending, outgoing);
  } finally {
    pending.end();
  }
}

async function answer(
  context: ProxyContext,
  request: WireRequest,
  pending: PendingRequest,
  outgoing: ServerResponse,
): Promise<void> {
  const source = await openUpstream(context, request, outgoing);
  const head = headOf(source);
  const traits = pending.completeTraits(head);
  context.listener?.(traits, request);
  const { change, count } = context;
  if (change === null || !change.matches(traits)) return relayStream(source, head, outgoing);
  const { change: how } = change.mutation;
  const upstream = upstreamOf(context, request);
  if (how.kind === "head") {
    const changed = how.of(head, traits);
    count(changed !== null);
    return relayStream(source, changed ?? head, outgoing);
  }
  if (how.kind === "besides") {
    count(await how.of(traits, upstream));
    return relayStream(source, head, outgoing);
  }
  const isStream = (headerOf(head.headers, "Content-Type") ?? "").includes("event-stream");
  if (how.kind === "events" || how.kind === "stream text") {
    if (!isStream) return relayStream(source, head, outgoing);
    const rewrite =
      how.kind === "events" ? eventRewriter(how.begin()) : (text: string | null) => (text === null ? "" : how.of(text));
    return relayStream(source, head, outgoing, (text) => {
      const changed = rewrite(text);
      if (changed !== (text ?? "")) count(true);
      return changed;
    });
  }
  // Some streams end only after the client advances the test clock. Therefore, the proxy does not wait for the end of a
  // stream, and leaves its body unchanged.
  if (isStream) return relayStream(source, head, outgoing);
  const response: WireResponse = { ...head, body: await buffer(source) };
  const changed = how.kind === "body" ? how.of(response, traits) : await how.of(response, traits, upstream);
  count(changed !== null);
  finish(outgoing, changed ?? response);
}

async function relayStream(
  source: IncomingMessage,
  head: WireHead,
  outgoing: ServerResponse,
  rewrite: ((text: string | null) => string) | null = null,
): Promise<void> {
  begin(outgoing, head, rewrite === null ? headerOf(pairsOf(source.rawHeaders), "Content-Length") : null);
  outgoing.flushHeaders();
  const decoder = new TextDecoder();
  for await (const piece of source as AsyncIterable<Buffer>) {
    const part = rewrite === null ? piece : rewrite(decoder.decode(piece, { stream: true }));
    if (part.length > 0) outgoing.write(part);
  }
  const rest = rewrite?.(null) ?? "";
  outgoing.end(rest);
}

function finish(outgoing: ServerResponse, response: WireResponse): void {
  begin(outgoing, response, String(response.body.length));
  outgoing.end(response.body);
}

function begin(outgoing: ServerResponse, { status, headers }: WireHead, length: string | null): void {
  outgoing.sendDate = false;
  const kept = headers.filter(([name]) => !hopHeaders.has(name.toLowerCase()));
  outgoing.writeHead(status, [...kept, ...(length === null ? [] : [["Content-Length", length] as const])].flat());
}

async function openUpstream(
  { port, agent }: Pick<ProxyContext, "port" | "agent">,
  { method, path, headers, body }: WireRequest,
  client: ServerResponse | null,
): Promise<IncomingMessage> {
  const kept = headers.filter(([name]) => !hopHeaders.has(name.toLowerCase()) && name.toLowerCase() !== "expect");
  const length = body.length > 0 || method === "POST" ? [["Content-Length", String(body.length)] as const] : [];
  const outward = send({ host: "127.0.0.1", port, agent, method, path, headers: [...kept, ...length].flat() });
  client?.on("close", () => {
    if (!client.writableFinished) outward.destroy();
  });
  outward.end(body);
  const [response] = (await once(outward, "response")) as [IncomingMessage];
  return response;
}

function upstreamOf(context: ProxyContext, request: WireRequest): Upstream {
  const { unrestrictedKey } = context;
  const complete = async (other: WireRequest): Promise<WireResponse> => {
    const source = await openUpstream(context, other, null);
    return { ...headOf(source), body: await buffer(source) };
  };
  const basePath = new URL(context.target.baseUrl).pathname;
  return {
    unrestrictedKey,
    path: request.path,
    resend: ({ key, path = request.path }) =>
      complete({
        ...request,
        path,
        headers: key === undefined ? request.headers : withKey(request.headers, key),
      }),
    read: async (path) => {
      // Retries a 429, because the relayed client request can still hold a concurrency slot.
      for (let tries = 0; ; tries += 1) {
        const response = await complete({
          method: "GET",
          path: basePath + path,
          headers: request.headers.filter(([name]) => !/^content-/i.test(name)),
          body: Buffer.alloc(0),
        });
        if (response.status !== 429 || tries === 3) return response;
        await sleep(5);
      }
    },
  };
}

const withKey = (headers: readonly Header[], key: string): Header[] => [
  ...headers.filter(([name]) => name.toLowerCase() !== "authorization"),
  ["Authorization", `Bearer ${key}`],
];

const headOf = (message: IncomingMessage): WireHead => ({
  status: message.statusCode ?? 0,
  headers: pairsOf(message.rawHeaders).filter(([name]) => !hopHeaders.has(name.toLowerCase())),
});

function pairsOf(raw: readonly string[]): Header[] {
  const pairs: Header[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? "", raw[at + 1] ?? ""]);
  return pairs;
}
