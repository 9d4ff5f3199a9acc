import { deflateSync, gzipSync } from "node:zlib";

import { afterEach, describe, expect, it } from "vitest";

import type { Answered, Exchange } from "../evidence/exchange.ts";
import { hostilities, type HostileServer, startAnsweringServer, startHostile } from "./testing/hostile.ts";
import { type Deadlines, defaultDeadlines } from "./deadlines.ts";
import { openTransport, type OutgoingRequest, type Transport } from "./transport.ts";

const open: (HostileServer | Transport)[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** Opens a transport for tests. Deadlines that a test waits for are short; all others are long, because the machine may be busy. */
function transportWith(tighter: Partial<Deadlines> = {}): Transport {
  const transport = openTransport({
    now: () => performance.now(),
    clockOffsetMs: () => 0,
    deadlines: { ...defaultDeadlines, ...tighter },
  });
  open.push(transport);
  return transport;
}

async function serve(starting: Promise<HostileServer>): Promise<string> {
  const server = await starting;
  open.push(server);
  return server.baseUrl;
}

const get = (url: string, changes: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: "GET",
  url,
  headers: [],
  body: null,
  key: null,
  ...changes,
});

async function answered(exchange: Promise<Exchange>): Promise<Answered> {
  const { answer } = await exchange;
  if (answer.kind !== "answered") throw new Error(answer.detail);
  return answer;
}

const raw = (text: string): Promise<string> => serve(startHostile((socket) => void socket.end(text)));

describe("an exchange", () => {
  it("is recorded as sent and as received", async () => {
    const url = await serve(
      startAnsweringServer((request, response, body) => {
        response.writeHead(201, { "X-One": "1", "x-two": ["a", "b"] });
        response.end(`${request.method} ${request.headers.authorization} ${body}`);
      }),
    );
    const sent = get(url, { method: "POST", headers: [["Authorization", "Bearer k"]], body: '{"é":1}', key: "main" });
    const exchange = await transportWith(defaultDeadlines).open(sent).finished;
    expect(exchange).toMatchObject({
      id: "x1",
      key: "main",
      request: {
        method: "POST",
        url,
        headers: [["Authorization", "Bearer k"]],
        body: { kind: "text", text: '{"é":1}', bytes: 8 },
      },
      answer: {
        status: 201,
        ending: { kind: "complete" },
        events: [],
        body: { kind: "text", text: 'POST Bearer k {"é":1}' },
      },
    });
    const { headers } = await answered(Promise.resolve(exchange));
    expect(headers).toEqual(
      expect.arrayContaining([
        ["X-One", "1"],
        ["x-two", "a"],
        ["x-two", "b"],
      ]),
    );
  });

  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
  ])("is read through %s", async (coding, pack) => {
    const url = await serve(
      startAnsweringServer((_, response) => void response.setHeader("content-encoding", coding).end(pack("hello"))),
    );
    expect((await answered(transportWith().open(get(url)).finished)).body).toEqual({
      kind: "text",
      text: "hello",
      bytes: 5,
    });
  });

  it("is sent again if the server closed an idle connection, and only then", async () => {
    let requests = 0;
    const url = await serve(
      startHostile((socket) => {
        requests += 1;
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        socket.once("data", () => socket.resetAndDestroy());
      }),
    );
    const transport = transportWith();
    for (let sent = 0; sent < 3; sent++) expect((await answered(transport.open(get(url)).finished)).status).toBe(200);
    expect(requests).toBe(3);
  });

  it("is not sent twice if the first response never arrived", async () => {
    let requests = 0;
    const url = await serve(
      startHostile((socket) => {
        requests += 1;
        socket.resetAndDestroy();
      }),
    );
    expect((await transportWith().open(get(url)).finished).answer).toMatchObject({
      kind: "unanswered",
      reason: "broken",
    });
    expect(requests).toBe(1);
  });

  it("follows no redirect", async () => {
    const url = await raw("HTTP/1.1 307 Elsewhere\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n");
    expect((await answered(transportWith().open(get(url)).finished)).status).toBe(307);
  });
});

describe("a deadline", () => {
  it.each([
    ["never answers", { headMs: 300 }, { reason: "silent", detail: "no response head within 0.3 s" }],
    ["sends endless 100 Continue", { headMs: 300 }, { kind: "unanswered" }],
    ["drips its head", { headMs: 300 }, { reason: "silent", detail: "no response head within 0.3 s" }],
    [
      "stops in the middle of the body",
      { silenceMs: 300 },
      { ending: { kind: "deadline", detail: "silent for 0.3 s in mid-body" } },
    ],
    ["closes in the middle of the body", {}, { ending: { kind: "broken" } }],
    ["sends broken gzip", {}, { ending: { kind: "broken" } }],
  ] as const)("or the end of the connection ends it: %s", async (name, tighter, expected) => {
    const url = await serve(startHostile(hostilities[name]));
    expect((await transportWith(tighter).open(get(url)).finished).answer).toMatchObject(expected);
  });

  it("limits the whole exchange, even while data arrives", async () => {
    const url = await serve(startHostile(hostilities["drips its body"]));
    const { ending } = await answered(transportWith({ exchangeMs: 1500 }).open(get(url)).finished);
    expect(ending).toEqual({ kind: "deadline", detail: "not over after 1.5 s" });
  });

  it("of a request can be shorter than the transport's, but not longer", async () => {
    const url = await serve(startHostile(hostilities["never answers"]));
    const transport = transportWith({ headMs: 300 });
    for (const [headMs, seconds] of [
      [100, 0.1],
      [9000, 0.3],
    ] as const)
      expect((await transport.open(get(url, { deadlines: { headMs } })).finished).answer).toMatchObject({
        detail: `no response head within ${seconds} s`,
      });
  });
});

const chunkHead = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

describe("an endless body", () => {
  it.each([
    ["plain", (): string => "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", Buffer.alloc(1024 * 1024, " ")],
    [
      "packed",
      (): string => "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n",
      gzipSync(Buffer.alloc(1024 * 1024)),
    ],
  ])("is read no further than 32 MiB, and kept as head and tail: %s", async (_, head, piece) => {
    const url = await serve(
      startHostile((socket) => {
        socket.write(head());
        for (let sent = 0; sent < 60; sent++) socket.write(piece);
      }),
    );
    const { body, ending } = await answered(transportWith().open(get(url)).finished);
    expect(ending).toEqual({ kind: "deadline", detail: "more than 33554432 bytes of body" });
    expect(body).toMatchObject({ kind: "cut" });
    expect(JSON.stringify(body).length).toBeLessThan(250_000);
  });

  it("is read up to 200,000 one-byte chunks", async () => {
    const url = await serve(startHostile((socket) => void socket.write(chunkHead + "1\r\na\r\n".repeat(250_000))));
    const { ending } = await answered(transportWith(defaultDeadlines).open(get(url)).finished);
    expect(ending).toEqual({ kind: "deadline", detail: "more than 200000 chunks of body" });
  });

  it.each([
    ["a head", "HTTP/1.1 200 OK\r\n"],
    ["trailers", `${chunkHead}0\r\n`],
  ])("%s of too many lines ends it, and errors made later have their stacks", async (_, start) => {
    const url = await serve(startHostile((socket) => void socket.write(start + "x-more: a\r\n".repeat(30_000))));
    const transport = transportWith(defaultDeadlines);
    const limit = Error.stackTraceLimit;
    const exchanges = await Promise.all([1, 2, 3].map(() => transport.open(get(url)).finished));
    for (const { answer } of exchanges)
      expect(answer.kind === "answered" ? answer.ending : answer).toMatchObject({
        kind: answer.kind === "answered" ? "broken" : "unanswered",
        detail: "the response's head is too long",
      });
    expect(Error.stackTraceLimit).toBe(limit);
  });
});

describe("a stream", () => {
  const streamHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";

  it("gives its events, and its raw text", async () => {
    const text =
      "\ufeffid: 1\r\nevent: start\r\ndata: {\r\ndata: }\r\n\r\n: a comment\r\n\r\nretry: 5\r\ndata:bare\r\n\r\n";
    const { events, body } = await answered(transportWith().open(get(await raw(streamHead + text))).finished);
    expect(events.map(({ name, data }) => [name, data])).toEqual([
      ["start", "{\n}"],
      [null, "bare"],
    ]);
    expect(body).toMatchObject({ kind: "text", text });
  });

  it("is closed once `closeWhen` returns true", async () => {
    const url = await serve(startHostile(hostilities["sends events without end"]));
    const underway = transportWith().open(get(url, { closeWhen: (events) => events.length >= 3 }));
    const { ending, events } = await answered(underway.finished);
    expect(ending).toEqual({ kind: "closed by us" });
    expect(events.length).toBeGreaterThanOrEqual(3);
  });

  it("can be closed at any time", async () => {
    const url = await serve(startHostile((socket) => void socket.write(`${streamHead}event: start\ndata: {}\n\n`)));
    const underway = transportWith().open(get(url));
    await underway.firstEvent;
    underway.close();
    const { ending, events } = await answered(underway.finished);
    expect([ending, events.length]).toEqual([{ kind: "closed by us" }, 1]);
  });

  it.each(["sends events without end", "sends large events without end"] as const)(
    "that %s is read to its bounds",
    async (name) => {
      const piece = name.includes("large") ? `data: ${"x".repeat(100_000)}\n\n` : "data: x\n\n".repeat(1000);
      const url = await serve(startHostile((socket) => void socket.end(streamHead + piece.repeat(40))));
      const { ending, events } = await answered(transportWith().open(get(url)).finished);
      expect(ending).toMatchObject({
        kind: "deadline",
        detail: expect.stringMatching(/^more than \d+ (characters of )?events$/) as string,
      });
      expect(events.length * (events[0]?.data.length ?? 0)).toBeLessThan(700_000);
    },
  );
});
