import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createSocketServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

import { listenOnLoopback } from "../../base/network/network.ts";

/** Behaves in a hostile way on a connection, after the first bytes of a request. */
export type Hostility = (socket: Socket) => void;

/** A hostile server on a free port on loopback. */
export interface HostileServer {
  /** Base URL of the server. It ends in `/v1`. */
  readonly baseUrl: string;
  readonly close: () => void;
}

const head = (...lines: readonly string[]): string =>
  `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
const jsonHead = (...lines: readonly string[]): string => head("content-type: application/json", ...lines);
const streamHead = head("content-type: text/event-stream", "connection: close");

/** Returns a behaviour that sends a complete response with this text. */
const sendText =
  (text: string | Buffer): Hostility =>
  (socket) =>
    void socket.end(text);

const sendJson = (body: string, ...lines: readonly string[]): Hostility =>
  sendText(jsonHead(`content-length: ${Buffer.byteLength(body)}`, ...lines) + body);

/** Returns a behaviour that repeats a text until the client disconnects. It pauses in between, to leave CPU time to other tests. */
const repeatText =
  (first: string, piece: string | Buffer): Hostility =>
  (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.writableNeedDrain || socket.write(piece), 4);
    socket.on("close", () => clearInterval(timer));
  };

/** Returns a behaviour that sends a text byte by byte, with pauses. */
const sendByteByByte =
  (text: string): Hostility =>
  (socket) => {
    let at = 0;
    const timer = setInterval(() => socket.write(text.charAt(at++ % text.length)), 20);
    socket.on("close", () => clearInterval(timer));
  };

const mebibyte = 1024 * 1024;
const spaces = Buffer.alloc(64 * 1024, " ");
const millionZeros = gzipSync(Buffer.alloc(mebibyte));
const largeHeaders = (bytes: number): string[] =>
  Array.from({ length: Math.ceil(bytes / 4000) }, (_, index) => `x-large-${index}: ${"a".repeat(4000)}`);
const validInvokeBody = '{"result":{"text":"hello"}}';

/** Hostile behaviours by name. A single response is enough to harm a careless client. */
export const hostilities = {
  "never answers": () => {},
  "closes at once": (socket) => void socket.end(),
  "resets the connection": (socket) => void socket.resetAndDestroy(),
  "sends bytes that are not HTTP": sendText(Buffer.from([0, 255, 17, 13, 10, 13, 10, 200, 31])),
  "sends the status 000": sendText("HTTP/1.1 000 Nothing\r\n\r\n"),
  "sends endless 100 Continue": repeatText("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(20)),
  "drips its head": sendByteByByte(`HTTP/1.1 200 OK\r\nx-slow: ${"z".repeat(5000)}`),
  "drips its body": (socket) => {
    socket.write(jsonHead("content-length: 100000"));
    sendByteByByte(" ")(socket);
  },
  "sends a body without end": repeatText(jsonHead("connection: close"), spaces),
  "sends events without end": repeatText(streamHead, 'event: chunk\ndata: {"content":"more and more"}\n\n'.repeat(20)),
  "sends large events without end": repeatText(
    streamHead,
    `event: chunk\ndata: {"content":"${"m".repeat(60_000)}"}\n\n`,
  ),
  "sends comments without end": repeatText(streamHead, ": still here\n\n".repeat(100)),
  "sends one line of data without end": repeatText(`${streamHead}data: `, "d".repeat(65_536)),
  "stops in the middle of the body": (socket) => void socket.write(`${jsonHead("content-length: 1000")}{"result":`),
  "closes in the middle of the body": sendText(`${jsonHead("content-length: 1000")}{"result":`),
  "announces less than it sends": sendText(`${jsonHead("content-length: 5")}${validInvokeBody.repeat(20)}`),
  "sends 300 MB": repeatText(jsonHead(`content-length: ${300 * mebibyte}`), spaces),
  "sends a gzip bomb": sendText(
    Buffer.concat([
      Buffer.from(jsonHead("content-encoding: gzip", "connection: close")),
      ...Array.from({ length: 300 }, () => millionZeros),
    ]),
  ),
  "sends broken gzip": sendJson("this is not gzip", "content-encoding: gzip"),
  "nests JSON 100,000 deep": sendJson(`${'{"result":'.repeat(100_000)}1${"}".repeat(100_000)}`),
  "nests JSON 4,000 deep": sendJson(`{"result":${"[".repeat(4000)}${"]".repeat(4000)}}`),
  "nests the JSON of an event": sendText(
    `${streamHead}event: start\ndata: ${'{"message":'.repeat(20_000)}1${"}".repeat(20_000)}\n\n`,
  ),
  "sends text that is not UTF-8": sendText(
    Buffer.concat([
      Buffer.from(jsonHead("content-length: 20")),
      Buffer.from('{"result":"'),
      Buffer.from([0xff, 0xc0, 0x80, 0xfe, 0xed, 0xa0, 0x80]),
      Buffer.from('"}'),
    ]),
  ),
  "sends 100 kB of headers": sendJson(validInvokeBody, ...largeHeaders(100_000)),
  "sends 1 MB of headers": sendJson(validInvokeBody, ...largeHeaders(mebibyte)),
  "sends a header twice, with two values": sendJson(
    validInvokeBody,
    "x-ratelimit-remaining: 5",
    "x-ratelimit-remaining: 50",
  ),
  "sends numbers that are none": sendJson(
    validInvokeBody,
    "x-ratelimit-limit: 1e400",
    "x-ratelimit-remaining: -0x10",
    "x-ratelimit-reset: 99999999999999999999",
    "x-ratelimit-reset-after: NaN",
  ),
} as const satisfies Record<string, Hostility>;

/** Starts a server that behaves in this hostile way on every connection. */
export async function startHostile(hostility: Hostility): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => hostility(socket));
  });
  const port = await listenOnLoopback(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type AnswerRequest = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Starts an HTTP server whose responses a callback writes. */
export async function startAnsweringServer(
  answerTo: AnswerRequest,
  options: ServerOptions = {},
): Promise<HostileServer> {
  const server = createServer(options, (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => answerTo(request, response, Buffer.concat(pieces).toString()));
  });
  server.requestTimeout = 0;
  server.on("connection", (socket) => socket.on("error", () => {}));
  const port = await listenOnLoopback(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const discoveryResponses: Readonly<Record<string, unknown>> = {
  "/v1/agents": { data: [{ id: "echo" }], pagination: { page: 1, limit: 2, total: 1, pages: 1 } },
  "/v1/usage": {
    period: "2026-01-01T00:00:00Z",
    requests: { used: 1, limit: 1000, remaining: 999 },
    tokens: { used: 1, limit: 2_000_000, remaining: 1_999_999 },
  },
  "/v1/agents/echo/health": { status: "healthy", checks: {} },
};

/** Starts a server that answers discovery correctly, and behaves in a hostile way on every invoke and stream. */
export const startHostileAfterDiscovery = (hostility: Hostility): Promise<HostileServer> =>
  startAnsweringServer((request, response) => {
    const known = discoveryResponses[(request.url ?? "").replace(/\?.*/, "")];
    if (known === undefined) return hostility(request.socket);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(known));
  });
