import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { getPath } from "../../base/json.ts";
import { standardWebhooks } from "../behaviour/webhooks.ts";
import { standardAlerts } from "../behaviour/alerts.ts";
import { type Behaviour, type Patch, standardBehaviour } from "../patch.ts";
import { standardDeliveries } from "../behaviour/deliveries.ts";
import { standardLimits } from "../behaviour/limits.ts";
import { standardBatches } from "../behaviour/batches.ts";
import { virtualEpochMs } from "../clock.ts";
import { testServer, type TestCall, type TestServer } from "./test-server.ts";
import { webhookTranscript } from "./webhook-transcript.ts";

/** A part of the transcript's script. Sends requests and yields the server's responses as lines. */
type Script = (server: TestServer) => AsyncGenerator<string>;

/**
 * The responses of a server to each part of the script, as text. The script exercises every function of `Behaviour`.
 */
export type Transcript = ReadonlyMap<string, readonly string[]>;

export async function transcript(): Promise<Transcript> {
  const lines = new Map<string, readonly string[]>();
  for (const { name } of transcriptParts) {
    const ofPart: string[] = [];
    for await (const line of linesOf(name, [])) ofPart.push(line);
    lines.set(name, ofPart);
  }
  return lines;
}

/** Whether a server with this patch responds differently from `expected`. Stops at the first difference. */
export async function respondsDifferently(patch: Patch, expected: Transcript): Promise<boolean> {
  for (const name of likelyPartsFirst(patch)) {
    const lines = expected.get(name) ?? [];
    let at = 0;
    for await (const line of linesOf(name, [patch])) {
      if (line !== lines[at]) return true;
      at += 1;
    }
    if (at !== lines.length) return true;
  }
  return false;
}

async function* linesOf(name: string, patches: readonly Patch[]): AsyncGenerator<string> {
  const server = await testServer({ patches });
  try {
    yield* transcriptParts.find((part) => part.name === name)?.script(server) ?? [];
  } finally {
    await server.close();
  }
}

/**
 * Returns the names of all parts. The parts about a function that the patch replaces come first, because they show most
 * patches at once.
 */
function likelyPartsFirst({ override }: Patch): string[] {
  const replaced = Object.keys(override(standardBehaviour));
  const isLikely = ({ home: exercises }: TranscriptPart): boolean => replaced.some((decision) => decision in exercises);
  return [...transcriptParts.filter(isLikely), ...transcriptParts.filter((part) => !isLikely(part))].map(
    ({ name }) => name,
  );
}

const turn = (body: unknown, rest: TestCall = {}): TestCall => ({ key: "team", body, ...rest });
const hello = { query: "hello" };
const tongues = { query: "Grüße" };
const signatureHeaders = (method: string, path: string, body: string) => {
  const timestamp = String(virtualEpochMs / 1000);
  const signed = `${method}\n${path}\n${timestamp}\n${body}`;
  const signature = createHmac("sha256", "reference-signing-secret").update(signed).digest("hex");
  return { "x-signature": signature, "x-timestamp": timestamp };
};

function turnCalls(path: string): readonly (readonly [string, TestCall])[] {
  const parameters = (value: object) => turn({ query: "a b c", parameters: value });
  return [
    [path, turn(hello)],
    [path, turn({})],
    [path, turn({ query: 7 })],
    [path, turn({ query: "" })],
    [path, turn({ query: "é 🙂 漢" })],
    [path, turn({ query: "a\0b" })],
    [path, turn('{ "query": "spaced" }')],
    [path, turn({ parameters: {}, query: "x", session_id: "s" })],
    [path, turn({ query: "x", session_id: "s" })],
    [path, parameters({ temperature: 0 })],
    [path, parameters({ temperature: 2 })],
    [path, parameters({ temperature: 3 })],
    [path, parameters({ max_tokens: 2 })],
    [path, parameters({ context: {}, unknown: 1 })],
    [path, parameters({ temperature: 0, max_tokens: 2, context: {} })],
    [path, parameters({ resume_from_index: 1 })],
    [path, parameters({ chunk_size: 2 })],
    [path, parameters({ stream_delay_ms: 0 })],
  ];
}

const calls: readonly (readonly [string, TestCall])[] = [
  ...turnCalls("/agents/keeper/invoke"),
  ...turnCalls("/agents/polyglot/stream"),
  ["/agents/keeper/stream", turn({ query: "x", session_id: "s" })],
  ["/agents/keeper/stream", turn({ query: "x", session_id: "s" })],
  ["/agents/echo/invoke", turn("{")],
  ["/agents/echo/invoke", turn(hello, { headers: { "content-type": "application/json; charset=utf-8" } })],
  ["/agents/echo/invoke", turn(hello, { headers: { "content-type": "text/plain" } })],
  ["/agents/echo/invoke", turn(hello, { headers: { "accept-encoding": "gzip" } })],
  [
    "/agents/echo/invoke",
    turn(hello, { headers: signatureHeaders("POST", "/v1/agents/echo/invoke", JSON.stringify(hello)) }),
  ],
  [
    "/agents/echo/invoke",
    turn(tongues, { headers: signatureHeaders("POST", "/v1/agents/echo/invoke", JSON.stringify(tongues)) }),
  ],
  ["/v1/usage?a=1", { headers: signatureHeaders("GET", "/v1/usage", "") }],
  ["/usage", { headers: { "x-signature": "0", "x-timestamp": "0" } }],
  ["/agents/echo/stream", turn(hello, { headers: { accept: "application/json" } })],
  ...["nobody", "crasher", "full", "breaker", "elder"].flatMap((agent): (readonly [string, TestCall])[] => [
    [`/agents/${agent}/invoke`, turn(hello)],
    [`/agents/${agent}/stream`, turn(hello)],
  ]),
  ["/agents/nobody/invoke", turn({})],
  ["/v1/../api/v1/agents/echo/execute/answer", turn(hello)],
  ["/v1/../api/v1/agents/echo/execute/nothing", turn(hello)],
  ["/agents/echo", {}],
  ["/agents/nobody", {}],
  ["/keys/usage", {}],
  ["/keys/usage", {}],
  ["/agents/echo/batch", turn({ batch: [] })],
  ["/usage", { key: "ah_free_4mJ9sQ2vXk7TtB1nLw6Yc3Re" }],
  ["/webhooks", { key: "reader", body: {} }],
  ["/alerts", { key: "reader", body: {} }],
  ...["echo", "worn", "down", "nobody", "echo"].map((agent) => [`/agents/${agent}/health`, {}] as const),
  ...["", "?page=1&limit=10", "?page=2&limit=10", "?page=3&limit=10", "?page=99", "?limit=0"].map(
    (query) => [`/agents${query}`, {}] as const,
  ),
  ["/usage", {}],
  ["/nothing", {}],
  ["/usage", { method: "DELETE" }],
  ["/v1/../agents", {}],
  ["/v1/../v2/agents", {}],
  ...["/agents/echo/health", "/agents", "/usage"].flatMap((path): (readonly [string, TestCall])[] => [
    [path, { key: null }],
    [path, { key: "ah_wrong" }],
    [path, { key: "expired" }],
  ]),
  ["/agents/nobody/invoke", { key: "ah_wrong", body: "{" }],
  ...["/keys/usage", "/webhooks", "/alerts"].map((path): [string, TestCall] => [
    path,
    path === "/keys/usage" ? { key: "ah_wrong" } : { key: "ah_wrong", body: {} },
  ]),
  ["/agents/echo/invoke", { key: "reader", body: hello }],
  ["/agents/keeper/invoke", { key: "oneAgent", body: hello }],
  ["/agents/keeper/stream", { key: "oneAgent", body: hello }],
  ["/agents/keeper/batch", { key: "oneAgent", body: { batch: [hello] } }],
  ["/agents/echo/batch", { key: "reader", body: { batch: [hello] } }],
  ["/agents/echo/invoke", { key: "elsewhere", body: hello }],
  ["/usage", { key: "elsewhere" }],
  ["/agents/echo/invoke", turn({ query: "x".repeat(20_000) })],
  ["/agents/echo/invoke", turn({ query: "x".repeat(1_100_000) })],
];

async function describeCall(server: TestServer, path: string, call: TestCall): Promise<string> {
  try {
    const { status, headers, text } = await server.call(path, call);
    return JSON.stringify([path, status, headers, text]);
  } catch (error) {
    return `${path} ${error instanceof Error ? error.message : ""}`;
  }
}

/** Milliseconds to wait for a response. No response takes this long, even on a busy machine. */
const timeoutMs = 5000;

/** Resolves to the text, or to "still open" if the text does not come within `timeoutMs`. */
async function withinTimeout(text: Promise<string>): Promise<string> {
  const giveUp = new AbortController();
  const late = sleep(timeoutMs, "still open", { signal: giveUp.signal }).catch(String);
  return Promise.race([text.catch(String), late]).finally(() => giveUp.abort());
}

const askEverything: Script = async function* (server) {
  yield server.reference.keys.map(({ key }) => key).join();
  for (const [path, call] of calls) yield await withinTimeout(describeCall(server, path, call));
  // From here, the transcript records the exact bytes of responses.
  const { key } = server.reference.issueKey("pro");
  const authorized = `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n`;
  yield await server.raw(`GET /v1/nothing HTTP/1.1\r\n${authorized}\r\n`);
  const body = JSON.stringify(hello);
  const length = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  yield await withinTimeout(server.raw(`POST /v1/agents/echo/stream HTTP/1.1\r\n${authorized}${length}\r\n${body}`));
  const written = [`Basic ${key}`, `bearer ${key}`, `Bearer ${key.slice(0, -1)}x`, `Bearer ${key}x`, `Bearer ${key}`];
  for (const authorization of written)
    yield await describeCall(server, "/usage", { key: null, headers: { authorization } });
  for (let at = 0; at < 8; at += 1)
    yield await describeCall(server, "/agents/echo/invoke", { key: "quota", body: hello });
};

const useUpAKey: Script = async function* (server) {
  const { name: key } = server.reference.issueKey("free");
  const other = server.reference.issueKey("free").name;
  const ask = () => describeCall(server, "/agents/echo/invoke", { key, body: hello });
  for (let at = 0; at < 12; at += 1) yield await ask();
  yield await describeCall(server, "/agents/echo/health", { key });
  yield await describeCall(server, "/usage", { key: other });
  for (let minute = 0; minute < 12; minute += 1) {
    await server.reference.advance(41_000);
    for (let at = 0; at < 12; at += 1) yield await ask();
  }
  await server.reference.advance(1_800_000);
  for (let at = 0; at < 12; at += 1) yield await ask();
  const team = server.reference.issueKey("team").name;
  const burst = Array.from({ length: 60 }, () => server.call("/agents/crasher/invoke", { key: team, body: hello }));
  const answers = await Promise.all(burst);
  yield String(answers.map(({ status }) => String(status)).toSorted());
  yield String(answers.map(({ headers }) => String(headers["x-ratelimit-remaining"])).toSorted());
  for (let at = 0; at < 25; at += 1) yield await describeCall(server, "/usage", { key: "ah_wrong" });
  const enterprise = server.reference.issueKey("enterprise").name;
  for (let at = 0; at < 210; at += 1) yield await describeCall(server, "/usage", { key: enterprise });
};

const useSlots: Script = async function* (server) {
  const { name: key } = server.reference.issueKey("free");
  for (const agent of ["crasher", "nobody"]) {
    for (let at = 0; at < 3; at += 1) yield await describeCall(server, `/agents/${agent}/invoke`, { key, body: hello });
  }
  for (let at = 0; at < 3; at += 1)
    yield await withinTimeout(describeCall(server, "/agents/echo/stream", { key, body: hello }));
  const next = server.reference.issueKey("free").name;
  const streams = [];
  for (let at = 0; at < 3; at += 1) {
    const stream = await server.stream("dripper", { key: next });
    yield String(stream.status);
    streams.push(stream);
  }
  yield await describeCall(server, "/usage", { key: next });
  yield await describeCall(server, "/agents", { key: next });
  for (const stream of streams) stream.disconnect();
  for (let at = 0; at < 20; at += 1) await server.call("/agents/echo/health");
  yield await describeCall(server, "/usage", { key: next });
};

const passTime: Script = async function* (server) {
  const slow = describeCall(server, "/agents/sleeper/invoke", { body: hello });
  const stuck = describeCall(server, "/agents/stuck/invoke", { body: hello });
  const stream = await server.stream("dripper");
  const long = await server.stream("echo", { body: { query: "a b", parameters: { stream_delay_ms: 45_000 } } });
  await server.reference.advance(500);
  yield await withinTimeout(stream.until("start"));
  await server.reference.advance(600_000);
  yield await slow;
  yield await stuck;
  for (const read of [stream, long]) yield await withinTimeout(read.until("no such text"));
  yield await describeCall(server, "/usage", { key: "temporary" });
};

const submitBatches: Script = async function* (server) {
  const batch = [hello, { query: "" }, tongues];
  const { status, text, json } = await server.call("/agents/keeper/batch", { body: { batch } });
  yield `${status} ${text}`;
  const id = getPath(json, "operation_id");
  const readOperation = () => describeCall(server, `/operations/${String(id)}`, {});
  for (const ms of [0, 300, 300, 1000]) {
    await server.reference.advance(ms);
    yield await readOperation();
  }
};

interface TranscriptPart {
  readonly name: string;
  readonly script: Script;
  /** The functions of `Behaviour` that the part exercises. */
  readonly home: Partial<Behaviour>;
}

const transcriptParts: readonly TranscriptPart[] = [
  { name: "everything", script: askEverything, home: {} },
  { name: "batches", script: submitBatches, home: standardBatches },
  {
    name: "webhooks",
    script: webhookTranscript,
    home: { ...standardWebhooks, ...standardDeliveries, ...standardAlerts },
  },
  { name: "slots", script: useSlots, home: {} },
  { name: "time", script: passTime, home: {} },
  { name: "a used up key", script: useUpAKey, home: standardLimits },
];
