// A client of the Agent Hosting Service Interface in TypeScript, with fetch. Its main part calls every kind of endpoint.
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const baseUrl = (process.env["AGENT_BASE_URL"] ?? "").replace(/\/$/, "");
const key = process.env["AGENT_API_KEY"] ?? "";
const secret = process.env["AGENT_SIGNING_SECRET"] ?? "";
const agent = process.env["AGENT_ID"] ?? "echo";
const maxAttempts = 5;
const firstWaitMs = 100;

class AgentError extends Error {}

function headersOf(method: string, path: string, body: string, accept: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = `${method}\n${path}\n${timestamp}\n${body}`;
  return {
    Authorization: `Bearer ${key}`,
    Accept: accept,
    ...(body !== "" && { "Content-Type": "application/json" }),
    ...(secret !== "" && {
      "X-Timestamp": timestamp,
      "X-Signature": createHmac("sha256", secret).update(signed).digest("hex"),
    }),
  };
}

async function retryAfterOf(response: Response): Promise<number> {
  const { error } = (await response.json()) as {
    error: { retry_after?: number; details?: { retry_after: number } };
  };
  return error.retry_after ?? error.details?.retry_after ?? 1;
}

/** Sends a request, and again after a 429 or a 5xx. */
async function request(method: string, path: string, json?: object, accept = "application/json"): Promise<Response> {
  const url = new URL(`${baseUrl}${path}`);
  const body = json === undefined ? "" : JSON.stringify(json);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const headers = headersOf(method, url.pathname + url.search, body, accept);
    const response = await fetch(url, { method, headers, ...(body !== "" && { body }) }).catch((error: unknown) => {
      throw new AgentError(`the connection broke: ${String(error)}`);
    });
    if (response.status < 400) return response;
    if (response.status === 429) await sleep((await retryAfterOf(response)) * 1000);
    else if (response.status >= 500) await sleep(firstWaitMs * 2 ** attempt);
    else break;
    await response.body?.cancel().catch(() => {});
  }
  throw new AgentError(`${method} ${path} failed`);
}

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await request(method, path, body);
  return (await response.json()) as Record<string, unknown>;
}

/** Reads a stream of events: the name and the data of each. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<[name: string, data: string]> {
  const decoder = new TextDecoder();
  let rest = "";
  let [name, data]: [string, string[]] = ["message", []];
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.map((each) => each.replace(/\r$/, ""))) {
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
      if (field === "event") name = value;
      if (field === "data") data.push(value);
      if (line !== "") continue;
      if (data.length > 0) yield [name, data.join("\n")];
      [name, data] = ["message", []];
    }
  }
}

interface StreamError {
  readonly error: string;
  readonly retry_after?: number | null;
}

/** Streams a response, and again if the service says when. Returns the text. */
async function stream(query: string): Promise<string> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const response = await request("POST", `/agents/${agent}/stream`, { query }, "text/event-stream");
    let text = "";
    let failure: StreamError | null = null;
    if (response.body === null) throw new AgentError("the stream has no body");
    // Leaving the loop closes the stream.
    for await (const [name, data] of eventsOf(response.body)) {
      if (name === "done") return text;
      if (name === "chunk") text += (JSON.parse(data) as { content: string }).content;
      if (name === "error") {
        failure = JSON.parse(data) as StreamError;
        break;
      }
    }
    if (typeof failure?.retry_after !== "number") throw new AgentError(`the stream failed: ${failure?.error}`);
    await sleep(failure.retry_after * 1000);
  }
  throw new AgentError("the stream failed");
}

/** Reads the list of agents, page by page. */
async function agents(): Promise<unknown[]> {
  const found: unknown[] = [];
  let pages = 1;
  for (let page = 1; page <= pages; page += 1) {
    const response = await request("GET", `/agents?page=${page}&limit=50`);
    const answer = (await response.json()) as { data: unknown[]; pagination: { pages: number } };
    found.push(...answer.data);
    pages = answer.pagination.pages;
  }
  return found;
}

async function invoke(query: string): Promise<unknown> {
  const parameters = { temperature: 0.5, max_tokens: 100, context: { language: "en" } };
  const body = { query, parameters, session_id: "s-1" };
  return (await call("POST", `/agents/${agent}/invoke`, body))["result"];
}

const hook = "https://hooks.example.com/agents";
const webhook = () => call("POST", "/webhooks", { url: hook, events: ["agent.*"], agent_id: agent, secret: "example" });
const alert = () => call("POST", "/alerts", { type: "rate_limit", threshold: 80, webhook_url: hook });

const steps: readonly (() => Promise<unknown>)[] = [
  ...Array.from({ length: 6 }, (_, at) => () => invoke(`question ${at}`)),
  ...Array.from({ length: 4 }, (_, at) => () => stream(`story ${at}`)),
  agents,
  webhook,
  alert,
  () => call("GET", "/usage"),
  () => call("GET", `/agents/${agent}/health`),
];

for (const step of steps) {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
