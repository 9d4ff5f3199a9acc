import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { type Allowance, Limiter } from "./limiter.ts";

export interface GreeterOptions {
  readonly apiKey: string;
  /** The time, in Unix milliseconds. */
  readonly now: () => number;
}

/** A running server with one agent, `greeter`, and one key of the Pro tier. */
export interface Greeter {
  readonly baseUrl: string;
  close(): void;
}

interface Fields {
  readonly [name: string]: unknown;
}

const version = "1.0.0";
const agentPath = /^\/v1\/agents\/([^/]+)\/(invoke|stream|health)$/;

export async function startGreeter(options: GreeterOptions): Promise<Greeter> {
  const limiter = new Limiter({ perMinute: 100, perHour: 1000, concurrent: 10 });
  const server: Server = createServer((request, response) => void handle(request, response, limiter, options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  limiter: Limiter,
  { apiKey, now }: GreeterOptions,
): Promise<void> {
  response.setHeader("Date", new Date(now()).toUTCString());
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const [, agent, action] = agentPath.exec(pathname) ?? [];
  const text = await bodyOf(request);
  if (request.headers.authorization !== `Bearer ${apiKey}`) {
    showAllowance(response, limiter.look(now()));
    return fail(response, 401, "INVALID_API_KEY", "The API key is not valid.");
  }
  if (action === "health") {
    showAllowance(response, limiter.look(now()));
    return agent === "greeter" ? answer(response, 200, health) : unknownAgent(response);
  }
  const allowance = limiter.enter(now());
  showAllowance(response, allowance);
  if (!allowance.isAdmitted) return refuse(response, allowance);
  response.once("close", () => limiter.leave());
  const route = `${request.method} ${pathname}`;
  if (route === "GET /v1/agents") return list(response, new URL(request.url ?? "/", "http://localhost").searchParams);
  if (route === "GET /v1/usage") return answer(response, 200, usage(allowance, now()));
  if (request.method !== "POST" || action === undefined)
    return fail(response, 404, "NOT_FOUND", "There is nothing at this path.");
  if (agent !== "greeter") return unknownAgent(response);
  const body = fieldsOf(text);
  if (body === null) return fail(response, 400, "INVALID_INPUT", "The body is no JSON object.");
  if (body["query"] === undefined) return fail(response, 400, "MISSING_REQUIRED_FIELD", "`query` is missing.");
  if (typeof body["query"] !== "string") return fail(response, 400, "INVALID_INPUT", "`query` must be a string.");
  return action === "invoke" ? invoke(response, body["query"]) : stream(response, body["query"]);
}

const health = {
  status: "healthy",
  checks: {
    agent: { status: "healthy", response_time_ms: 1 },
    dependencies: {},
    resources: { memory_usage_percent: 12.5, cpu_usage_percent: 1.5 },
  },
  version,
};

let answered = 0;
function invoke(response: ServerResponse, query: string): void {
  answered += 1;
  const metadata = { execution_time: 0.001, agent_version: version, request_id: `req-${answered}` };
  answer(response, 200, { result: { text: `Hello! You said: ${query}` }, metadata });
}

function stream(response: ServerResponse, query: string): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const send = (event: string, data: Fields): void =>
    void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const words = `Hello! You said: ${query}`.split(" ");
  send("start", { message: "The greeter begins." });
  words.forEach((content, index) => send("chunk", { content, index }));
  send("done", { message: "That is all.", usage: { total_tokens: words.length }, execution_time: 0.001 });
  response.end();
}

function list(response: ServerResponse, query: URLSearchParams): void {
  const [page, limit] = [Number(query.get("page") ?? 1), Number(query.get("limit") ?? 20)];
  if (!Number.isInteger(page) || !Number.isInteger(limit) || page < 1 || limit < 1)
    return fail(response, 400, "INVALID_INPUT", "`page` and `limit` are whole numbers of at least 1.");
  const agents = [{ agent_id: "greeter", version }];
  const data = agents.slice((page - 1) * limit, page * limit);
  return answer(response, 200, { data, pagination: { page, limit, total: 1, pages: 1 } });
}

const usage = ({ limit, remaining }: Allowance, nowMs: number): Fields => ({
  period: new Date(nowMs).toISOString(),
  requests: { used: limit - remaining, limit, remaining },
  tokens: { used: 0, limit: 2_000_000, remaining: 2_000_000 },
});

function showAllowance(response: ServerResponse, { limit, remaining, reset, resetAfterSeconds }: Allowance): void {
  response.setHeader("X-RateLimit-Limit", limit);
  response.setHeader("X-RateLimit-Remaining", remaining);
  response.setHeader("X-RateLimit-Reset", reset);
  response.setHeader("X-RateLimit-Reset-After", resetAfterSeconds);
}

const unknownAgent = (response: ServerResponse): void =>
  fail(response, 404, "AGENT_NOT_FOUND", "There is no agent of this id.");

const refuse = (response: ServerResponse, { remaining, resetAfterSeconds }: Allowance): void =>
  // Where the minute has room, all slots are taken: one is free again in a moment.
  fail(response, 429, "RATE_LIMIT_EXCEEDED", "Too many requests.", {
    retry_after: remaining > 0 ? 1 : resetAfterSeconds,
  });

const fail = (response: ServerResponse, status: number, code: string, message: string, more: Fields = {}): void =>
  answer(response, status, { error: { code, message, status, ...more } });

const answer = (response: ServerResponse, status: number, body: Fields): void =>
  void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

function fieldsOf(text: string): Fields | null {
  try {
    const body = JSON.parse(text) as unknown;
    return typeof body === "object" && body !== null && !Array.isArray(body) ? (body as Fields) : null;
  } catch {
    return null;
  }
}
