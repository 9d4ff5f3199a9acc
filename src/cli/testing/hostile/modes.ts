import { connect, type Socket } from "node:net";

import { writings } from "../../../evidence/testing/traces.ts";
import { hostilities } from "../../../wire/testing/hostile.ts";
import { type Asked, event, type Reply, streamOf } from "./friendly.ts";
import type { Harm } from "./server.ts";

type Modes = Readonly<Record<string, Harm>>;

const everywhere = (): boolean => true;
const isRun = ({ path }: Asked): boolean => /\/(invoke|stream)$/.test(path);
const isStream = ({ path }: Asked): boolean => path.endsWith("/stream");
const isList = ({ method, path }: Asked): boolean => method === "GET" && path === "/agents";

const named = <T>(entries: readonly (readonly [string, T])[], harmOf: (value: T) => Harm): Modes =>
  Object.fromEntries(entries.map(([name, value]) => [name, harmOf(value)]));

const reply = (change: Extract<Harm, { kind: "reply" }>["change"]): Harm => ({ kind: "reply", change });

/** The answers of an invoke alone. */
const invoked = (body: (key: string) => string): Harm =>
  reply((friendly, asked, key) => (asked.path.endsWith("/invoke") ? { ...friendly, body: body(key) } : friendly));

const headed = (headers: (key: string, asked: Asked) => Reply["headers"]): Harm =>
  reply((friendly, asked, key) => ({ ...friendly, headers: [...friendly.headers, ...headers(key, asked)] }));

const streamed = (events: (key: string) => readonly string[]): Harm =>
  reply((friendly, asked, key) => (isStream(asked) ? streamOf(...events(key)) : friendly));

const listed = (data: unknown): Harm =>
  reply((friendly, asked) =>
    isList(asked)
      ? { ...friendly, body: JSON.stringify({ data, pagination: { page: 1, limit: 2, total: 1, pages: 1 } }) }
      : friendly,
  );

/** The connection is taken over by all that `src/wire` knows of harm. */
const transport: Modes = {
  ...named(
    Object.entries(hostilities).map(([name, harm]) => [`${name}, from the first request on`, harm]),
    (harm) => ({ kind: "socket", at: everywhere, harm }),
  ),
  ...named(
    Object.entries(hostilities).map(([name, harm]) => [`${name}, once an agent is asked`, harm]),
    (harm) => ({ kind: "socket", at: isRun, harm }),
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
  "a flood of 103": {
    kind: "socket",
    at: isRun,
    harm: flood("", "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=x\r\n\r\n".repeat(500)),
  },
  "a flood of 103 from the first request on": {
    kind: "socket",
    at: everywhere,
    harm: flood("", `HTTP/1.1 103 Early Hints\r\nlink: <${"a".repeat(8000)}>\r\n\r\n`),
  },
  "a flood of 100": { kind: "socket", at: isRun, harm: flood("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(2000)) },
  "a header line of 10 MB": {
    kind: "socket",
    at: isRun,
    harm: flood("HTTP/1.1 200 OK\r\nx-large: ", "a".repeat(65_536)),
  },
  "header lines without end": {
    kind: "socket",
    at: isRun,
    harm: flood("HTTP/1.1 200 OK\r\n", "x-more: a\r\n".repeat(5000)),
  },
  "a status line of 10 MB": { kind: "socket", at: isRun, harm: flood("HTTP/1.1 200 ", "a".repeat(65_536)) },
  "a body at full speed": { kind: "socket", at: isRun, harm: flood("HTTP/1.1 200 OK\r\n\r\n", "a".repeat(65_536)) },
  "chunks at full speed": {
    kind: "socket",
    at: isRun,
    harm: flood("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\na\r\n".repeat(10_000)),
  },
  "trailers without end": {
    kind: "socket",
    at: isRun,
    harm: flood("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", "x-more: a\r\n".repeat(5000)),
  },
  "events at full speed": {
    kind: "socket",
    at: isRun,
    harm: flood(
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
      "event: chunk\ndata: {}\n\n".repeat(2000),
    ),
  },
  "an upgrade that nobody asked for": {
    kind: "socket",
    at: isRun,
    harm: (socket) => void socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
  },
  ...named(
    [99, 199, 204, 205, 304, 418, 599, 600, 999].map((status) => [`the status ${status}`, status]),
    (status) => reply((friendly, asked) => (isRun(asked) ? { ...friendly, status } : friendly)),
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
  "a page of 1e308": reply((friendly, asked) =>
    isList(asked)
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
  "a refusal that asks for 1e308 seconds": reply((friendly, asked) =>
    isRun(asked)
      ? {
          ...friendly,
          status: 429,
          body: '{"error":{"code":"RATE_LIMITED","message":"","status":429,"retry_after":1e308}}',
        }
      : friendly,
  ),
  "a refusal that asks for less than nothing": reply((friendly, asked) =>
    isRun(asked)
      ? {
          ...friendly,
          status: 429,
          body: '{"error":{"code":"RATE_LIMITED","message":"","status":429,"retry_after":-5}}',
        }
      : friendly,
  ),
  "a thousand headers": headed(() => Array.from({ length: 1000 }, (_, at) => [`x-h-${at}`, "v"] as const)),
  "header names of all sorts": headed(() => [
    ["__proto__", "x"],
    ["constructor", "y"],
    ["x!#$%&'*+-.^_`|~", "z"],
  ]),
  "a redirect with the key": reply((friendly, asked, key) =>
    isRun(asked) ? { ...friendly, status: 302, headers: [["location", `http://127.0.0.1:9/${key}`]] } : friendly,
  ),
};

const latin = (text: string): string => Buffer.from(text.replaceAll(/[^\t\x20-\x7e]/g, "")).toString("latin1");
const sentKey = ({ authorization }: Asked): string => authorization.replace(/^\S+ ?/, "");
const pieces = (key: string, length: number): string[] => key.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
const chunks = (contents: readonly string[]): string[] => [
  event("start", { message: "" }),
  ...contents.map((content, index) => event("chunk", { content, index })),
  event("done", { message: contents.join(""), usage: { total_tokens: 1 }, execution_time: 0 }),
];

const echoes: Modes = {
  ...named(
    Object.entries(writings).map(([how, write]) => [`echoes the key ${how}`, write]),
    (write) =>
      reply((friendly, asked, key) => ({
        ...friendly,
        headers: [...friendly.headers, ["x-echo", latin(write(sentKey(asked) || key))]],
        body: friendly.body.startsWith("{")
          ? JSON.stringify({
              ...(JSON.parse(friendly.body) as object),
              echo: write(key),
              sent: write(sentKey(asked)),
              [write(key)]: 1,
            })
          : friendly.body.replaceAll("hello", JSON.stringify(write(key)).slice(1, -1)),
      })),
  ),
  ...named(
    Object.entries(writings).map(([how, write]) => [`says the key ${how} in text that is no JSON`, write]),
    (write) => reply((friendly, asked, key) => (isRun(asked) ? { ...friendly, body: write(key) } : friendly)),
  ),
  "echoes the key as an error's code": reply((friendly, asked) => ({
    ...friendly,
    status: 400,
    body: JSON.stringify({ error: { code: sentKey(asked), message: asked.authorization, status: 400 } }),
  })),
  "echoes the key in header names": headed((key) => [
    [`x-${Buffer.from(key).toString("hex")}`, "1"],
    [key.replaceAll(/[^\w-]/g, ""), "2"],
  ]),
  "echoes the key as an agent": reply((friendly, asked, key) =>
    isList(asked)
      ? { ...friendly, body: JSON.stringify({ data: [{ id: key }, { id: "echo", name: key }], pagination: {} }) }
      : friendly,
  ),
  "echoes the key as a webhook's id": reply((friendly, asked, key) =>
    asked.path === "/webhooks"
      ? { ...friendly, body: JSON.stringify({ webhook_id: key, secret: `whsec_${key}` }) }
      : friendly,
  ),
  "streams the key in two": streamed((key) => chunks(pieces(key, Math.ceil(key.length / 2)))),
  "streams the key in fours": streamed((key) => chunks(pieces(key, 4))),
  "streams the key letter by letter": streamed((key) => chunks(pieces(key, 1))),
  "streams the key as names of events": streamed((key) => pieces(key, 5).map((name) => event(name, {}))),
  "streams the key as data that are no JSON": streamed((key) => pieces(key, 5).map((piece) => `data: ${piece}\n\n`)),
  "sends the key in gzip": reply((friendly, asked, key) =>
    isRun(asked) ? { ...friendly, headers: [["content-encoding", "gzip"]], body: key } : friendly,
  ),
  "sends 200 kB of keys": invoked((key) => JSON.stringify({ result: key.repeat(6000) })),
  "sends 600 kB of keys": invoked((key) => key.repeat(20_000)),
};

const timing: Modes = {
  "delays that grow": { kind: "delay", ms: (_, count) => count * 400 },
  "an answer after 12 s, each": { kind: "delay", ms: () => 12_000 },
  "a short body, each": {
    kind: "socket",
    at: ({ path }) => path !== "/agents",
    harm: (socket) =>
      void socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{"),
  },
  "a stream that stays open after done": {
    kind: "socket",
    at: isStream,
    harm: (socket) =>
      void socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${chunks(["hello"]).join("")}`),
  },
  "a stream that never begins": {
    kind: "socket",
    at: isStream,
    harm: (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"),
  },
  "a stream that drips comments": {
    kind: "socket",
    at: isStream,
    harm: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
      const timer = setInterval(() => socket.write(": here\n\n"), 200);
      socket.on("close", () => clearInterval(timer));
    },
  },
  "a stream that goes on after done": {
    kind: "socket",
    at: isStream,
    harm: (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${chunks(["hello"]).join("")}`);
      const timer = setInterval(() => socket.write(event("chunk", { content: "more" })), 200);
      socket.on("close", () => clearInterval(timer));
    },
  },
  "a health that hangs": { kind: "socket", at: ({ path }) => path.endsWith("/health"), harm: () => {} },
  "a usage that hangs": { kind: "socket", at: ({ path }) => path === "/usage", harm: () => {} },
  "webhooks that hang": { kind: "socket", at: ({ path }) => path.startsWith("/webhooks"), harm: () => {} },
};

/** Sends to a receiver again and again, some at once, until it is told to end. */
const sending =
  (atOnce: number, bytes: (url: URL, key: string) => string | Buffer, then: "close" | "go on" = "close") =>
  (address: string, key: string): (() => void) => {
    const url = new URL(address);
    const open = new Set<Socket>();
    let isOver = false;
    const begin = (): void => {
      if (isOver) return;
      const socket = connect(Number(url.port), url.hostname);
      open.add(socket);
      const text = bytes(url, key);
      const more = (): void => {
        if (then === "close") return void socket.end(text);
        while (!socket.destroyed && socket.write(text));
        if (!socket.destroyed) socket.once("drain", more);
      };
      socket.on("connect", more);
      socket.on("error", () => {});
      socket.resume();
      socket.on("close", () => {
        open.delete(socket);
        setTimeout(begin, 5).unref();
      });
    };
    for (let at = 0; at < atOnce; at++) begin();
    return () => {
      isOver = true;
      for (const socket of open) socket.destroy();
    };
  };

const post = ({ pathname }: URL, body: string | null, ...lines: readonly string[]): string =>
  [
    `POST ${pathname} HTTP/1.1`,
    "host: a",
    "content-type: application/json",
    ...lines,
    ...(body === null ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    "",
    body ?? "",
  ].join("\r\n");

const deliver = (harm: Extract<Harm, { kind: "deliver" }>["harm"]): Harm => ({ kind: "deliver", harm });

const deliveries: Modes = {
  "a flood of small deliveries": deliver(sending(20, (url) => post(url, '{"id":"e"}'))),
  "a flood of deliveries of 200 kB": deliver(
    sending(10, (url) => post(url, JSON.stringify({ id: "m".repeat(200_000) }))),
  ),
  "a flood of deliveries of 7 MB": deliver(sending(8, (url) => post(url, "m".repeat(7_000_000)))),
  "a delivery without end": deliver(
    sending(
      4,
      ({ pathname }) =>
        `POST ${pathname} HTTP/1.1\r\nhost: a\r\ncontent-length: 999999999999\r\n\r\n`.padEnd(65_536, "a"),
      "go on",
    ),
  ),
  "a delivery of chunks without end": deliver((address, key) => {
    let isFirst = true;
    return sending(
      1,
      ({ pathname }) => {
        const head = `POST ${pathname} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n`;
        const text = `${isFirst ? head : ""}${"1\r\na\r\n".repeat(10_000)}`;
        isFirst = false;
        return text;
      },
      "go on",
    )(address, key);
  }),
  "deliveries to nowhere": deliver(
    sending(20, () => "POST /nowhere/at-all HTTP/1.1\r\nhost: a\r\ncontent-length: 9999999\r\n\r\naaaa"),
  ),
  "deliveries that are no HTTP": deliver(sending(20, () => Buffer.from([0, 255, 17, 13, 10, 13, 10, 200, 31]))),
  "connections that say nothing": deliver((address) => {
    const url = new URL(address);
    const sockets = Array.from({ length: 300 }, () => connect(Number(url.port), url.hostname).on("error", () => {}));
    return () => sockets.forEach((socket) => socket.destroy());
  }),
  "deliveries with 60 kB of headers": deliver(
    sending(10, (url) => post(url, "{}", ...Array.from({ length: 12 }, (_, at) => `x-${at}: ${"a".repeat(4900)}`))),
  ),
  "deliveries with the key in every writing": deliver((address, key) =>
    sending(2, (url) =>
      post(
        url,
        JSON.stringify(Object.fromEntries(Object.entries(writings).map(([how, write]) => [how, write(key)]))),
        `x-key: ${key}`,
      ),
    )(address, key),
  ),
  "deliveries that are nested deep": deliver(
    sending(2, (url) => post(url, `${'{"data":'.repeat(20_000)}1${"}".repeat(20_000)}`)),
  ),
  "deliveries of half a surrogate": deliver(
    sending(2, (url) => post(url, '{"id":"\\ud800","type":"\\udc00","agent_id":"__proto__","__proto__":{}}')),
  ),
};

/** Every way to do harm to a whole run of the command, by a name that says it. */
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
