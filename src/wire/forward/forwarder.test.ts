import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";

import { afterEach, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../../base/network/network.ts";
import type { ForwardedExchange } from "./forwarded-exchange.ts";
import { type Forwarder, ownResponseHeader, startForwarder } from "./forwarder.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

interface Setup {
  readonly forwarder: Forwarder;
  readonly exchanges: readonly ForwardedExchange[];
  /** Resolves when the next exchange has been reported. */
  readonly next: () => Promise<ForwardedExchange>;
}

/** Starts an upstream and a forwarder in front of it. */
async function setUp(listener: RequestListener): Promise<Setup> {
  const server: Server = createServer(listener);
  const port = await listenOnLoopback(server);
  opened.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return startOn(`http://127.0.0.1:${port}`);
}

async function startOn(upstream: string): Promise<Setup> {
  const exchanges: ForwardedExchange[] = [];
  const waiting: ((exchange: ForwardedExchange) => void)[] = [];
  const forwarder = await startForwarder({
    upstream,
    host: "127.0.0.1",
    port: 0,
    tls: null,
    now: () => performance.now(),
    onExchange: (exchange) => {
      exchanges.push(exchange);
      waiting.shift()?.(exchange);
    },
  });
  opened.unshift(() => forwarder.close());
  return { forwarder, exchanges, next: () => new Promise((resolve) => waiting.push(resolve)) };
}

/** Sends raw bytes, and returns all that comes until the connection is closed. */
async function sendRaw({ origin }: Forwarder, bytes: string): Promise<Buffer> {
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  socket.on("error", () => {});
  socket.write(bytes);
  await once(socket, "close");
  return Buffer.concat(pieces);
}

describe("a forwarder", () => {
  it("passes the headers of a request on: in order, with their spelling, and all values", async () => {
    let received: string[] = [];
    const { forwarder } = await setUp((incoming, response) => {
      received = incoming.rawHeaders;
      response.end("ok");
    });
    await sendRaw(
      forwarder,
      "GET /v1/usage?a=%2F&b HTTP/1.1\r\nHost: proxy.example\r\nX-ODD: 1\r\naccept: text/html\r\nx-odd: 2\r\nAuthorization: Bearer k\r\n" +
        "TE: trailers\r\nKeep-Alive: 5\r\nProxy-Connection: close\r\nX-Hop: secret\r\nConnection: close, X-Hop\r\n\r\n",
    );
    expect(received.slice(4, 12)).toEqual([
      "X-ODD",
      "1",
      "accept",
      "text/html",
      "x-odd",
      "2",
      "Authorization",
      "Bearer k",
    ]);
    expect(received.join(" ")).not.toMatch(/proxy\.example|secret|trailers/);
  });

  it("passes the response on: status, reason, headers and every byte, also compressed ones", async () => {
    const bytes = gzipSync("é".repeat(1000));
    const { forwarder } = await setUp((_, response) => {
      response.sendDate = false;
      response.writeHead(418, "A Teapot", [
        "Set-Cookie",
        "a=1",
        "X-Latin",
        "caf\u00e9",
        "Set-Cookie",
        "b=2",
        "Content-Encoding",
        "gzip",
        "Content-Length",
        String(bytes.length),
      ]);
      response.end(bytes);
    });
    const received = await sendRaw(forwarder, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    const [head = "", rest = ""] = received.toString("latin1").split("\r\n\r\n");
    expect(head.split("\r\n").slice(0, 6)).toEqual([
      "HTTP/1.1 418 A Teapot",
      "Set-Cookie: a=1",
      "X-Latin: caf\u00e9",
      "Set-Cookie: b=2",
      "Content-Encoding: gzip",
      `Content-Length: ${bytes.length}`,
    ]);
    expect(Buffer.from(rest, "latin1").subarray(0, bytes.length).equals(bytes)).toBe(true);
    expect(head).not.toMatch(/^date:/im);
  });

  it.each(["HEAD", "DELETE", "PUT", "PATCH"])("passes %s on", async (method) => {
    const { forwarder } = await setUp((incoming, response) =>
      response.writeHead(204, { "X-Method": incoming.method }).end(),
    );
    const received = await sendRaw(forwarder, `${method} /v1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    expect(received.toString()).toContain(`X-Method: ${method}`);
  });

  it("passes events on one by one, before the stream ends", async () => {
    let stream: ServerResponse | undefined;
    const { forwarder, next } = await setUp((_, response) => {
      stream = response.writeHead(200, { "Content-Type": "text/event-stream" });
      stream.flushHeaders();
    });
    const reported = next();
    const sent = request(`${forwarder.origin}/v1/agents/a/stream`, { method: "POST" }).end("{}");
    const [incoming] = (await once(sent, "response")) as [IncomingMessage];
    for (const event of ["start", "chunk", "done"]) {
      stream?.write(`event: ${event}\ndata: {}\n\n`);
      const [piece] = (await once(incoming, "data")) as [Buffer];
      expect(piece.toString()).toContain(event);
    }
    stream?.end();
    expect(await reported).toMatchObject({ end: { kind: "complete" }, responseBody: { pieces: [{}, {}, {}] } });
  });

  it("passes a body on while the client still sends it", async () => {
    const arrived = Promise.withResolvers<IncomingMessage>();
    const { forwarder, next } = await setUp((incoming, response) => {
      arrived.resolve(incoming);
      incoming.on("end", () => response.end("ok"));
    });
    const reported = next();
    const sent = request(`${forwarder.origin}/v1`, { method: "POST" });
    sent.write("first");
    const upstream = await arrived.promise;
    const [first] = (await once(upstream, "data")) as [Buffer];
    expect(first.toString()).toBe("first");
    sent.end("second");
    await once(sent, "response");
    expect((await reported).requestBody.length).toBe(11);
  });

  it("closes the upstream's connection when the client leaves", async () => {
    const left = Promise.withResolvers<void>();
    const { forwarder, next } = await setUp((_, response) => {
      response.on("close", left.resolve);
      response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    });
    const reported = next();
    const sent = request(`${forwarder.origin}/v1/agents/a/stream`).end();
    await once(sent, "response");
    sent.on("error", () => {}).destroy();
    await left.promise;
    expect(await reported).toMatchObject({ end: { kind: "client left" }, head: { status: 200 } });
  });

  it("breaks the client's connection when that of the upstream breaks", async () => {
    const { forwarder, next } = await setUp((_, response) => {
      response.writeHead(200, { "Content-Length": 10 });
      response.write("half", () => response.destroy());
    });
    const reported = next();
    const sent = request(`${forwarder.origin}/v1`).end();
    const [incoming] = (await once(sent, "response")) as [IncomingMessage];
    await expect(buffer(incoming)).rejects.toThrow(/aborted/);
    expect(await reported).toMatchObject({ end: { kind: "broken" } });
  });

  it("answers 502 with a mark of its own if the upstream gives no response", async () => {
    const { forwarder, next } = await startOn("http://127.0.0.1:9");
    const reported = next();
    const sent = request(`${forwarder.origin}/v1`).end();
    const [incoming] = (await once(sent, "response")) as [IncomingMessage];
    expect(incoming.statusCode).toBe(502);
    expect(incoming.headers[ownResponseHeader.toLowerCase()]).toBe("no response from the upstream");
    expect((await buffer(incoming)).toString()).toContain("ECONNREFUSED");
    expect(await reported).toMatchObject({ end: { kind: "no response" }, head: null });
  });

  it("keeps only the beginning of a long body, and passes all of it on", async () => {
    const long = Buffer.alloc(3 * 1024 * 1024, "x");
    const { forwarder, next } = await setUp((_, response) => void response.end(long));
    const reported = next();
    const sent = request(`${forwarder.origin}/v1`).end();
    const [incoming] = (await once(sent, "response")) as [IncomingMessage];
    expect((await buffer(incoming)).equals(long)).toBe(true);
    const { responseBody } = await reported;
    expect(responseBody.length).toBe(long.length);
    expect(responseBody.pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(512 * 1024);
  });
});
