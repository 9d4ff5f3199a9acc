import { once } from "node:events";
import { createServer, type Server } from "node:http";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import type { ClientCall } from "../evidence/client-call.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import {
  jsonEdits,
  overloadedStream,
  streamTroubles,
  serverFailure,
  rateLimitRefusal,
  type Trouble,
} from "./trouble.ts";

const events = [
  ["start", '{"message":"begins","session_id":"s-1"}'],
  ["chunk", '{"content":"a","index":0}'],
  ["chunk", '{"content":"b","index":1}'],
  ["done", '{"message":"ends","usage":{"total_tokens":2},"execution_time":0.1}'],
] as const;

let upstream: Server;
let gateway: Gateway;
let served: string[] = [];

beforeAll(async () => {
  upstream = createServer((request, response) => {
    served.push(`${request.method} ${request.url}`);
    if (request.url?.endsWith("/never") === true) return;
    if (request.url?.endsWith("/stream") === true) {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.end(events.map(([name, data]) => `event: ${name}\ndata: ${data}\n\n`).join(""));
    } else response.writeHead(200, { "Content-Type": "application/json" }).end('{"result":{},"usage":{}}');
  });
  const port = await listenOnLoopback(upstream);
  gateway = await openGateway({
    upstream: `http://127.0.0.1:${port}/v1`,
    tls: null,
    host: "127.0.0.1",
    key: { name: "client key", text: "ah_key" },
    now: () => performance.now(),
  });
});
afterAll(async () => {
  await gateway.close();
  upstream.closeAllConnections();
  upstream.close();
});

/** Sends one request to the gateway, which makes the trouble. Returns what the client got, and what was recorded. */
async function troubled(path: string, trouble: Trouble | null, init: RequestInit = {}) {
  served = [];
  gateway.begin(() => trouble);
  const got = await fetch(gateway.baseUrl + path, { headers: { Authorization: "Bearer ah_key" }, ...init }).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    (error: unknown) => ({ status: null, text: String(error) }),
  );
  const [call] = await gateway.finish();
  return { ...got, call: call as ClientCall, served };
}

const streamed = (name: keyof typeof streamTroubles): Trouble => ({
  name,
  kind: "stream",
  shape: streamTroubles[name],
});

describe("a gateway", () => {
  it("passes a request on as it came, and records it with the response", async () => {
    const { status, text, call } = await troubled("/usage?a=%2F&b", null);
    expect({ status, text, served }).toEqual({
      status: 200,
      text: '{"result":{},"usage":{}}',
      served: ["GET /v1/usage?a=%2F&b"],
    });
    expect(call).toMatchObject({
      exchange: { key: "client key", request: { url: `${gateway.baseUrl}/usage?a=%2F&b` }, answer: { status: 200 } },
      trouble: null,
      leftMs: null,
    });
  });

  it.each([
    ["429 in form A", 429, rateLimitRefusal("a", 2), { error: { status: 429, retry_after: 2 } }],
    [
      "429 in form B",
      429,
      rateLimitRefusal("b", 2),
      { status: "error", error: { details: { remaining: 0, retry_after: 2 } } },
    ],
    ["500", 500, serverFailure("500", 500), { error: { status: 500 } }],
    ["503", 503, serverFailure("503", 503), { status: "error", error: { details: {} } }],
  ] as const)("answers %s by itself", async (_, status, trouble, body) => {
    const got = await troubled("/usage", trouble);
    expect({ status: got.status, served: got.served }).toEqual({ status, served: [] });
    expect(JSON.parse(got.text)).toMatchObject(body);
  });

  it("resets a connection after the request ran", async () => {
    const { status, served: ran, call } = await troubled("/usage", { name: "reset", kind: "reset" });
    expect({ status, ran }).toEqual({ status: null, ran: ["GET /v1/usage"] });
    expect(call.exchange.answer).toMatchObject({ kind: "unanswered", reason: "broken" });
  });

  it("asks for smaller pages", async () => {
    await troubled("/agents?page=2&limit=50", { name: "small-pages", kind: "pages", limit: 3 });
    expect(served).toEqual(["GET /v1/agents?page=2&limit=3"]);
  });

  it("sets optional fields to null", async () => {
    const { text } = await troubled("/agents/a/invoke", {
      name: "null-fields",
      kind: "edit",
      edit: jsonEdits["null-fields"],
    });
    expect(JSON.parse(text)).toEqual({ result: {}, usage: null });
  });

  it.each([
    "slow-stream",
    "crlf",
    "comments",
    "multi-line",
    "unknown-fields",
    "unknown-events",
    "null-fields",
  ] as const)("sends a legal stream with %s", async (name) => {
    const { call } = await troubled("/agents/a/stream", streamed(name));
    const sent = call.exchange.answer.kind === "answered" ? call.exchange.answer.events : [];
    const known = sent.filter((event) => events.some(([each]) => each === event.name));
    expect(known.map((event) => event.name)).toEqual(events.map(([each]) => each));
    for (const [at, event] of known.entries()) {
      const plain: unknown = JSON.parse(events[at]?.[1] ?? "");
      const { session_id: _, index: __, ...rest } = plain as Record<string, unknown>;
      expect(JSON.parse(event.data)).toMatchObject(rest);
    }
  });

  it.each([
    ["an error", streamed("stream-error"), ["start", "chunk", "error"]],
    ["an overload", overloadedStream(2), ["start", "error"]],
    ["no end", streamed("stream-cut"), ["start", "chunk"]],
  ] as const)("ends a stream with %s", async (_, trouble, names) => {
    const { call } = await troubled("/agents/a/stream", trouble);
    expect(call.exchange.answer).toMatchObject({
      ending: { kind: "complete" },
      events: names.map((name) => ({ name })),
    });
  });

  it("notices when the client closes a stream that stays open", async () => {
    gateway.begin(() => streamed("stream-open"));
    const response = await fetch(`${gateway.baseUrl}/agents/a/stream`);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    const [call] = await gateway.finish();
    expect(call?.leftMs).not.toBeNull();
  });

  /** Sends a request to a path that the server never answers. Resolves when the server has the request. */
  async function sendUnanswered(): Promise<{ readonly failure: Promise<unknown> }> {
    const arrived = once(upstream, "request");
    const failure = fetch(`${gateway.baseUrl}/never`).catch((error: unknown) => error);
    await arrived;
    return { failure };
  }

  it("ends a run with an open request in bounded time, and records the request as unfinished", async () => {
    gateway.begin(() => null);
    const { failure } = await sendUnanswered();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const finished = gateway.finish();
    // Each closed connection is followed by a new request, as from a process that outlives the client's command.
    const late = failure.then(() => fetch(`${gateway.baseUrl}/never`).catch((error: unknown) => error));
    vi.advanceTimersByTime(2000);
    vi.useRealTimers();
    const calls = await finished;
    expect(calls).toMatchObject([
      { exchange: { answer: { kind: "unanswered" } }, leftMs: expect.any(Number) as number },
    ]);
    expect(await late).toBeInstanceOf(Error);
  });

  it("counts a request that arrives between two runs for neither", async () => {
    gateway.begin(() => null);
    expect(await gateway.finish()).toEqual([]);
    served = [];
    await expect(fetch(`${gateway.baseUrl}/usage`)).rejects.toThrow("fetch failed");
    gateway.begin(() => null);
    expect(await gateway.finish()).toEqual([]);
    expect(served).toEqual([]);
  });
});
