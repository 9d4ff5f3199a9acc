import type { Socket } from "node:net";
import type { IncomingMessage, ServerResponse } from "node:http";
import { getPath, tryParseJson } from "../../../base/json.ts";
import { type HostileServer, startAnsweringServer } from "../../../wire/testing/hostile.ts";

/** The correct response to a request, which a hostile behaviour then changes. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** A request to the hostile target, as its behaviours see it. */
export interface ReceivedRequest {
  readonly method: string;
  /** The path below `/v1`, without the query. */
  readonly path: string;
  readonly body: string;
  /** The whole value of the `Authorization` header. */
  readonly authorization: string;
}

const json = (status: number, body: unknown): Reply => ({
  status,
  headers: [["content-type", "application/json"]],
  body: JSON.stringify(body),
});

const fail = (status: number, code: string): Reply => json(status, { error: { code, message: "no", status } });

/** Formats one event of an SSE stream. */
export const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const streamOf = (...events: readonly string[]): Reply => ({
  status: 200,
  headers: [["content-type", "text/event-stream"]],
  body: events.join(""),
});

const done = event("done", { message: "over", usage: { total_tokens: 3 }, execution_time: 0.01 });

/** Returns the correct response of a server with one agent, which answers and streams. The server requires the key. */
function friendlyReply({ method, path, body, authorization }: ReceivedRequest, key: string): Reply {
  if (authorization !== `Bearer ${key}`) return fail(401, "INVALID_API_KEY");
  const request = `${method} ${path}`;
  const agent = /^\/agents\/([^/]+)\//.exec(path)?.[1];
  if (agent !== undefined && agent !== "echo") return fail(404, "AGENT_NOT_FOUND");
  if (request === "POST /agents/echo/invoke" && !hasQuery(body)) return fail(400, "MISSING_REQUIRED_FIELD");
  const known = replies[request];
  return (
    known ?? (/^GET \/webhooks\/[^/]+\/deliveries$/.test(request) ? json(200, { data: [] }) : fail(404, "NOT_FOUND"))
  );
}

const hasQuery = (body: string): boolean => body.includes('"query"');

const replies: Readonly<Record<string, Reply>> = {
  "GET /agents": json(200, { data: [{ id: "echo" }], pagination: { page: 1, limit: 2, total: 1, pages: 1 } }),
  "GET /usage": json(200, {
    period: "2026-01-01T00:00:00Z",
    requests: { used: 1, limit: 1000, remaining: 999 },
    tokens: { used: 1, limit: 2_000_000, remaining: 1_999_999 },
  }),
  "GET /agents/echo/health": json(200, { status: "healthy", checks: { agent: {}, dependencies: {}, resources: {} } }),
  "POST /agents/echo/invoke": json(200, { result: { text: "hello" } }),
  "POST /agents/echo/stream": streamOf(
    event("start", { message: "begins" }),
    event("chunk", { content: "hello", index: 0 }),
    done,
  ),
  "POST /webhooks": json(201, { webhook_id: "wh_1" }),
  "POST /alerts": json(201, { alert_id: "al_1" }),
  "GET /keys/usage": json(200, { requests: 1 }),
};

/** How a hostile target differs from a correct server. */
export type Harm =
  /** `harm` takes over the connection of each request that `at` accepts. Other requests get correct responses. */
  | {
      readonly kind: "socket";
      readonly at: (request: ReceivedRequest) => boolean;
      readonly harm: (socket: Socket) => void;
    }
  /** Changes each correct response before it is sent. */
  | { readonly kind: "reply"; readonly change: (reply: Reply, request: ReceivedRequest, key: string) => Reply }
  /** Delays each response by this many milliseconds. */
  | { readonly kind: "delay"; readonly ms: (request: ReceivedRequest, count: number) => number }
  /** Sends harmful deliveries to each webhook that the harness creates. `harm` returns a function that ends this. */
  | { readonly kind: "deliver"; readonly harm: (url: string, key: string) => () => void };

export type Modes = Readonly<Record<string, Harm>>;

export const everywhere = (): boolean => true;
export const isRun = ({ path }: ReceivedRequest): boolean => /\/(invoke|stream)$/.test(path);
export const isStream = ({ path }: ReceivedRequest): boolean => path.endsWith("/stream");
export const isList = ({ method, path }: ReceivedRequest): boolean => method === "GET" && path === "/agents";

export const named = <T>(entries: readonly (readonly [string, T])[], harmOf: (value: T) => Harm): Modes =>
  Object.fromEntries(entries.map(([name, value]) => [name, harmOf(value)]));

export const reply = (change: Extract<Harm, { kind: "reply" }>["change"]): Harm => ({ kind: "reply", change });

/** Replaces the body of responses to invoke. Other responses stay correct. */
export const invoked = (body: (key: string) => string): Harm =>
  reply((friendly, request, key) => (request.path.endsWith("/invoke") ? { ...friendly, body: body(key) } : friendly));

export const headed = (headers: (key: string, request: ReceivedRequest) => Reply["headers"]): Harm =>
  reply((friendly, request, key) => ({ ...friendly, headers: [...friendly.headers, ...headers(key, request)] }));

export const streamed = (events: (key: string) => readonly string[]): Harm =>
  reply((friendly, request, key) => (isStream(request) ? streamOf(...events(key)) : friendly));

export const chunks = (contents: readonly string[]): string[] => [
  event("start", { message: "" }),
  ...contents.map((content, index) => event("chunk", { content, index })),
  event("done", { message: contents.join(""), usage: { total_tokens: 1 }, execution_time: 0 }),
];

/** Starts a hostile target on a free port on loopback. */
export async function startHostileTarget(harm: Harm, key: string): Promise<HostileServer> {
  const ends: (() => void)[] = [];
  let count = 0;
  const answer = (request: ReceivedRequest, response: ServerResponse): void => {
    count += 1;
    if (harm.kind === "deliver" && request.path === "/webhooks" && request.method === "POST") {
      const url = getPath(tryParseJson(request.body), "url");
      if (typeof url === "string") ends.push(harm.harm(url, key));
    }
    const friendly = friendlyReply(request, key);
    if (harm.kind === "delay") return void setTimeout(() => write(response, friendly), harm.ms(request, count));
    write(response, harm.kind === "reply" ? harm.change(friendly, request, key) : friendly);
  };
  const { baseUrl, close } = await startAnsweringServer(
    (incoming, response, body) => {
      const request = receivedRequest(incoming, body);
      if (harm.kind === "socket" && harm.at(request)) harm.harm(incoming.socket);
      else answer(request, response);
    },
    { maxHeaderSize: 256 * 1024 },
  );
  return {
    baseUrl,
    close: () => {
      for (const end of ends) end();
      close();
    },
  };
}

const receivedRequest = ({ method = "", url = "", headers }: IncomingMessage, body: string): ReceivedRequest => ({
  method,
  path: url.replace(/\?.*/, "").replace(/^\/v1/, ""),
  body,
  authorization: headers.authorization ?? "",
});

/** Writes a response directly to the socket, because Node would refuse to send an invalid one. */
function write({ socket }: ServerResponse, { status, headers, body }: Reply): void {
  const lines = [...headers, ["content-length", String(Buffer.byteLength(body))] as const].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket?.write(`HTTP/1.1 ${status} OK\r\nconnection: close\r\n${lines.join("")}\r\n`);
  socket?.end(body);
}
