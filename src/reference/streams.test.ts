import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, testServer, type TestServer } from "./testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

interface StreamEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function eventsOf(text: string): readonly StreamEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const [name = "", data = ""] = block.split("\n");
      return { name: name.slice("event: ".length), data: JSON.parse(data.slice("data: ".length)) };
    });
}

async function streamed(agent: string, body: object = { query: "hello" }) {
  const { status, headers, text } = await server.call(`/agents/${agent}/stream`, { key: "enterprise", body });
  return { status, type: headers["content-type"], events: eventsOf(text) };
}

const contentOf = (events: readonly StreamEvent[]) =>
  events.map(({ data }) => (typeof data["content"] === "string" ? data["content"] : "")).join("");
const indexesOf = (events: readonly StreamEvent[]) => events.flatMap(({ data }) => data["index"] ?? []);

describe("a stream", () => {
  it("sends start, chunks and done", async () => {
    const { status, type, events } = await streamed("echo");
    expect([status, type]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect(events.map(({ name }) => name)).toEqual(["start", "chunk", "chunk", "chunk", "done"]);
    expect(contentOf(events)).toBe("You said: hello");
    expect(indexesOf(events)).toEqual([0, 1, 2]);
    expect(events.at(-1)?.data).toEqual({
      message: "Stream completed",
      usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
      execution_time: 0,
    });
  });

  it("returns the given session", async () => {
    const { events } = await streamed("echo", { query: "x", session_id: "mine" });
    expect(events[0]?.data).toMatchObject({ session_id: "mine" });
  });

  it.each([
    ["breaker", ["start", "chunk", "chunk", "error"], { code: "STREAM_ERROR" }],
    ["crasher", ["start", "error"], { code: "STREAM_ERROR" }],
    ["full", ["start", "error"], { code: "CAPACITY_ERROR", retry_after: 5 }],
  ])("of %s ends in an error", async (agent, names, data) => {
    const { events } = await streamed(agent);
    expect(events.map(({ name }) => name)).toEqual(names);
    expect(events.at(-1)?.data).toMatchObject(data);
  });

  it("can send 200 chunks", async () => {
    expect((await streamed("storyteller")).events).toHaveLength(202);
  });

  it("cuts chunks to their size without splitting a character", async () => {
    const { events } = await streamed("polyglot", { query: "👍🏽", parameters: { chunk_size: 1 } });
    const chunks = events.filter(({ name }) => name === "chunk").map(({ data }) => String(data["content"]));
    expect(chunks.every((chunk) => Array.from(chunk).length === 1 && chunk.isWellFormed())).toBe(true);
    expect(chunks.join("")).toContain("👩‍👩‍👧‍👦 🇨🇭 𝒳𝒴");
    expect(chunks.join("").endsWith("👍🏽")).toBe(true);
  });

  it("resumes at an index", async () => {
    const { events } = await streamed("echo", { query: "hello", parameters: { resume_from_index: 2 } });
    expect(indexesOf(events)).toEqual([2]);
    expect(contentOf(events)).toBe("hello");
  });

  it("sends nothing if resumed at its end", async () => {
    const { events } = await streamed("echo", { query: "hello", parameters: { resume_from_index: 99 } });
    expect(events.map(({ name }) => name)).toEqual(["start", "done"]);
  });

  it.each([
    [{ query: "x", parameters: { chunk_size: 0 } }, 400],
    [{ query: "x", parameters: { resume_from_index: -1 } }, 400],
    [{ parameters: {} }, 400],
  ])("refuses %j before it opens", async (body, status) => {
    expect((await server.call("/agents/echo/stream", { body })).status).toBe(status);
  });
});

describe("a slow stream", () => {
  it("sends each chunk at its second of the clock", async () => {
    const stream = await server.stream("dripper");
    await stream.until("event: start");
    await server.reference.advance(1000);
    expect(await stream.until("drop-1 ")).not.toContain("drop-2");
    await server.reference.advance(9000);
    expect(await stream.until("event: done")).toContain('"execution_time":10');
  });

  it("waits the requested time between chunks", async () => {
    const body = { query: "a b", parameters: { stream_delay_ms: 500 } };
    const stream = await server.stream("echo", { body });
    await stream.until("You ");
    await server.reference.advance(500);
    expect(await stream.until("said: ")).not.toContain("event: done");
    await server.reference.advance(1000);
    expect(await stream.until("event: done")).toContain('"execution_time":1.5');
  });

  it("ends in an error after its timeout", async () => {
    const stream = await server.stream("stuck");
    await stream.until("event: start");
    await server.reference.advance(30_000);
    expect(await stream.until("event: error")).toContain("STREAM_ERROR");
  });
});

describe("a slot", () => {
  it("is held by a stream until its end", async () => {
    const { name: key } = server.reference.issueKey("free");
    const streams = await Promise.all([server.stream("dripper", { key }), server.stream("dripper", { key })]);
    const refused = await server.invoke("echo", { key });
    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({ error: { code: "RATE_LIMIT_EXCEEDED", retry_after: 1 } });
    await server.reference.advance(10_000);
    await Promise.all(streams.map((stream) => stream.until("event: done")));
    expect((await server.invoke("echo", { key })).status).toBe(200);
  });

  it("is free at once when the client disconnects", async () => {
    const { name: key } = server.reference.issueKey("free");
    const streams = await Promise.all([server.stream("dripper", { key }), server.stream("dripper", { key })]);
    expect((await server.call("/usage", { key })).status).toBe(429);
    streams[0]?.disconnect();
    await eventually(async () => (await server.call("/usage", { key })).status === 200);
    streams[1]?.disconnect();
  });

  it.each(["nobody", "crasher", "breaker"])("comes back after a failure of %s", async (agent) => {
    const { name: key } = server.reference.issueKey("free");
    for (let turn = 0; turn < 4; turn += 1) await server.invoke(agent, { key });
    expect((await server.invoke("echo", { key })).status).toBe(200);
  });
});
