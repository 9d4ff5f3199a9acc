import type { Socket } from "node:net";

import { hostilities } from "../../../wire/testing/hostile.ts";
import { deliveries } from "./delivery-modes.ts";
import { echoes } from "./echo-modes.ts";
import {
  chunks,
  event,
  everywhere,
  type Harm,
  headed,
  invoked,
  isList,
  isRun,
  isStream,
  type Modes,
  named,
  type ReceivedRequest,
  type Reply,
  reply,
} from "./target.ts";

const listed = (data: unknown): Harm =>
  reply((friendly, request) =>
    isList(request)
      ? { ...friendly, body: JSON.stringify({ data, pagination: { page: 1, limit: 2, total: 1, pages: 1 } }) }
      : friendly,
  );

const onSocket = (harm: (socket: Socket) => void, at: (request: ReceivedRequest) => boolean = isRun): Harm => ({
  kind: "socket",
  at,
  harm,
});

const streamHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

const atRun = (other: Partial<Reply>): Harm =>
  reply((friendly, request) => (isRun(request) ? { ...friendly, ...other } : friendly));

/** Ways to misuse the TCP connection. `src/wire` defines them (`hostilities`). */
const transport: Modes = {
  ...named(
    Object.entries(hostilities).map(([name, harm]) => [`${name}, from the first request on`, harm]),
    (harm) => onSocket(harm, everywhere),
  ),
  ...named(
    Object.entries(hostilities).map(([name, harm]) => [`${name}, once an agent is requested`, harm]),
    (harm) => onSocket(harm),
  ),
};

const flood = (head: string, piece: string) => (socket: Socket) => {
  socket.write(head);
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once("drain", more);
  };
  more();
};

const heads: Modes = {
  "a flood of 103": onSocket(flood("", "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=x\r\n\r\n".repeat(500))),
  "a flood of 103 from the first request on": onSocket(
    flood("", `HTTP/1.1 103 Early Hints\r\nlink: <${"a".repeat(8000)}>\r\n\r\n`),
    everywhere,
  ),
  "a flood of 100": onSocket(flood("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(2000))),
  "a header line of 10 MB": onSocket(flood("HTTP/1.1 200 OK\r\nx-large: ", "a".repeat(65_536))),
  "header lines without end": onSocket(flood("HTTP/1.1 200 OK\r\n", "x-more: a\r\n".repeat(5000))),
  "a status line of 10 MB": onSocket(flood("HTTP/1.1 200 ", "a".repeat(65_536))),
  "a body at full speed": onSocket(flood("HTTP/1.1 200 OK\r\n\r\n", "a".repeat(65_536))),
  "chunks at full speed": onSocket(
    flood("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\na\r\n".repeat(10_000)),
  ),
  "trailers without end": onSocket(
    flood("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", "x-more: a\r\n".repeat(5000)),
  ),
  "events at full speed": onSocket(flood(streamHead, "event: chunk\ndata: {}\n\n".repeat(2000))),
  "an upgrade that nobody request for": onSocket(
    (socket) => void socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
  ),
  ...named(
    [99, 199, 204, 205, 304, 418, 599, 600, 999].map((status) => [`the status ${status}`, status]),
    (status) => reply((friendly, request) => (isRun(request) ? { ...friendly, status } : friendly)),
  ),
};

const odd = String.raw;
const texts: readonly (readonly [string, string])[] = [
  ["half a surrogate", "\ud800"],
  ["NUL", "a\0b"],
  ["__proto__", "__proto__"],
  ["constructor", "constructor"],
  ["a dot segment", ".."],
  ["an escaped dot segment", "%2e%2e"],
  ["a slash", "a/b"],
  ["a bad escape", "%zz%"],
  ["line ends", "a\r\nx-injected: 1"],
  ["a pattern that never ends", "(a+)+$"],
  ["a pattern that is none", odd`([*\ `],
  ["a placeholder", "{agent_id}${x}%s$&"],
  ["markup", "<script>alert(1)</script>"],
  ["right to left", "\u202eevil"],
  ["a megabyte", "m".repeat(1_000_000)],
  ["nothing", ""],
];

const lists: Modes = {
  ...named(
    texts.map(([name, id]) => [`an agent named by ${name}`, id]),
    (id) => listed([{ id }, { id: "echo" }]),
  ),
  "an agent named by half a surrogate alone": listed([{ id: "\udc00x" }]),
  "agents of every type": listed([null, 1, [], {}, "x", { id: 1 }, { id: null }, [[]]]),
  "a hundred thousand agents": listed(Array.from({ length: 100_000 }, (_, at) => ({ id: `agent-${at}` }))),
  "a list that is an object": listed({ 0: { id: "echo" }, length: 1e9 }),
  "a page of 1e308": reply((friendly, request) =>
    isList(request)
      ? {
          ...friendly,
          body: '{"data":[{"id":"echo"}],"pagination":{"page":1e308,"limit":-1,"total":1e999,"pages":9e99}}',
        }
      : friendly,
  ),
};

const bodies: Modes = {
  ...named(
    texts.map(([name, text]) => [`texts of ${name}`, text]),
    (text) =>
      reply((friendly) => ({
        ...friendly,
        body: JSON.stringify({
          ...(JSON.parse(friendly.body.startsWith("{") ? friendly.body : "{}") as object),
          [text]: text,
          status: text,
          error: { code: text, message: text, status: text },
          webhook_id: text,
          result: { [text]: text },
        }),
      })),
  ),
  ...named(
    [
      [
        "__proto__ as a field",
        '{"__proto__":{"status":"x","then":1},"result":{"__proto__":null},"constructor":{"prototype":1}}',
      ],
      ["a field that is called then", '{"then":"x","result":{"then":{"then":1}}}'],
      ["a number of a million digits", `{"result":{"n":${"9".repeat(1_000_000)}},"usage":{"total_tokens":1e999}}`],
      ["JSON 250,000 deep within bounds", `{"result":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
      [
        "a hundred thousand fields",
        JSON.stringify({ result: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`f${at}`, at])) }),
      ],
      ["the same field again and again", `{${'"result":{},'.repeat(10_000)}"result":1}`],
      ["a byte order mark", '\ufeff{"result":{}}'],
      ["only white space", " \n".repeat(100_000)],
      ["JSON and more", '{"result":{}}{"result":{}}'],
      [
        "metadata that lie",
        '{"result":{},"metadata":{"execution_time":-1e308,"agent_version":[],"request_id":{}},"usage":[]}',
      ],
    ] as const,
    (body) => invoked(() => body),
  ),
};

const numbers = ["1e400", "-1", "NaN", "Infinity", "0", "9".repeat(400), "0x10", "1,000", "٣", " 5 ; q=1"];
const headers: Modes = {
  ...named(
    numbers.map((number) => [`rate limits of ${number.slice(0, 20)}`, number]),
    (number) =>
      headed(() =>
        ["limit", "remaining", "reset", "reset-after"].map(
          (name) => [`x-ratelimit-${name}`, Buffer.from(number).toString("latin1")] as const,
        ),
      ),
  ),
  ...named(
    ["Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "yesterday", "1", "a".repeat(9000)].map(
      (date) => [`the date ${date.slice(0, 30)}`, date],
    ),
    (date) => headed(() => [["date", date]]),
  ),
  ...named(
    [
      ["a refusal that asks for 1e308 seconds", "1e308"],
      ["a refusal that asks for less than nothing", "-5"],
    ],
    (seconds) =>
      atRun({
        status: 429,
        body: `{"error":{"code":"RATE_LIMITED","message":"","status":429,"retry_after":${seconds}}}`,
      }),
  ),
  "a thousand headers": headed(() => Array.from({ length: 1000 }, (_, at) => [`x-h-${at}`, "v"] as const)),
  "header names of all sorts": headed(() => [
    ["__proto__", "x"],
    ["constructor", "y"],
    ["x!#$%&'*+-.^_`|~", "z"],
  ]),
  "a redirect with the key": reply((friendly, request, key) =>
    isRun(request) ? { ...friendly, status: 302, headers: [["location", `http://127.0.0.1:9/${key}`]] } : friendly,
  ),
};

const timing: Modes = {
  "delays that grow": { kind: "delay", ms: (_, count) => count * 400 },
  "an answer after 12 s, each": { kind: "delay", ms: () => 12_000 },
  "a short body, each": onSocket(
    (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{"),
    ({ path }) => path !== "/agents",
  ),
  "a stream that stays open after done": onSocket(
    (socket) => void socket.write(`${streamHead}${chunks(["hello"]).join("")}`),
    isStream,
  ),
  "a stream that never begins": onSocket((socket) => void socket.write(streamHead), isStream),
  "a stream that drips comments": onSocket((socket) => {
    socket.write(streamHead);
    const timer = setInterval(() => socket.write(": here\n\n"), 200);
    socket.on("close", () => clearInterval(timer));
  }, isStream),
  "a stream that goes on after done": onSocket((socket) => {
    socket.write(`${streamHead}${chunks(["hello"]).join("")}`);
    const timer = setInterval(() => socket.write(event("chunk", { content: "more" })), 200);
    socket.on("close", () => clearInterval(timer));
  }, isStream),
  ...named(
    [
      ["a health that hangs", /\/health$/],
      ["a usage that hangs", /^\/usage$/],
      ["webhooks that hang", /^\/webhooks/],
    ],
    (pattern) =>
      onSocket(
        () => {},
        ({ path }) => pattern.test(path),
      ),
  ),
};

/** Every way in which a hostile target tries to harm the command, by name. */
export const hostileModes: Modes = {
  ...transport,
  ...heads,
  ...lists,
  ...bodies,
  ...headers,
  ...echoes,
  ...timing,
  ...deliveries,
};
