import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publishedTiers } from "../spec/tiers.ts";
import { systemClock } from "./clock.ts";
import { readWithEventSource, type ClientEvent } from "./testing/clients/event-source.ts";
import { pythonJson, withoutPython } from "./testing/clients/python.ts";
import { startServe } from "./testing/clients/serve-process.ts";
import { eventually, testServer, type TestServer } from "./testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ clock: systemClock() });
});
afterAll(() => server.close());

type Read = (url: string, key: string, body: object, count?: number) => Promise<unknown>;
const readWithHttpx: Read = (url, key, body, count) =>
  pythonJson("read_stream.py", url, key, JSON.stringify(body), ...(count === undefined ? [] : [String(count)]));

const clients: readonly (readonly [string, boolean, Read])[] = [
  ["eventsource (npm)", true, readWithEventSource],
  ["httpx-sse (Python)", !withoutPython, readWithHttpx],
];

const named = (events: readonly ClientEvent[]) => events.map(({ name }) => name);
const dataOf = (events: readonly ClientEvent[]) => events.map(({ data }) => data as Readonly<Record<string, unknown>>);
const contentOf = (events: readonly ClientEvent[]) =>
  dataOf(events)
    .map(({ content }) => (typeof content === "string" ? content : ""))
    .join("");

describe.each(clients)("the public client %s", (_name, isThere, readAny) => {
  const read = async (agent: string, body: object, key: string, count?: number) =>
    (await readAny(`${server.reference.baseUrl}/agents/${agent}/stream`, key, body, count)) as readonly ClientEvent[];
  const pro = () => server.reference.issueKey("pro").key;

  it.skipIf(!isThere)("reads every event of a stream, in order", async () => {
    const events = await read("storyteller", { query: "tell" }, pro());
    const chunks = Array.from({ length: 200 }, () => "chunk");
    expect(named(events)).toEqual(["start", ...chunks, "done"]);
    expect(dataOf(events).flatMap(({ index }) => index ?? [])).toEqual(chunks.map((_, at) => at));
    expect(dataOf(events).at(-1)).toMatchObject({ usage: { total_tokens: 201 } });
  });

  it.skipIf(!isThere)("reads characters of several bytes, one in each chunk", async () => {
    const query = "Grüße 你好 👩‍👩‍👧‍👦 \u2028 𝒳";
    const events = await read("polyglot", { query, parameters: { chunk_size: 1 } }, pro());
    expect(contentOf(events)).toContain("e\u0301te\u0301 שלום مرحبا — ½ €5 🙂 done");
    expect(contentOf(events).endsWith(query)).toBe(true);
  });

  it.skipIf(!isThere)("reads the error at the end of a stream", async () => {
    const events = await read("full", { query: "x" }, pro());
    expect(events).toMatchObject([
      { name: "start" },
      { name: "error", data: { code: "CAPACITY_ERROR", retry_after: 5 } },
    ]);
  });

  it.skipIf(!isThere)("disconnects early, and the slot is free again", async () => {
    const { key } = server.reference.issueKey("free");
    for (let slot = 0; slot < publishedTiers.free.concurrent; slot += 1) {
      const events = await read("echo", { query: "a b", parameters: { stream_delay_ms: 50_000 } }, key, 2);
      expect(named(events)).toEqual(["start", "chunk"]);
    }
    await eventually(async () => (await server.invoke("echo", { key })).status === 200);
  });

  it.skipIf(!isThere)("reads a stream of `conformance serve`", async () => {
    const { baseUrl, key, stop } = await startServe();
    try {
      const events = (await readAny(`${baseUrl}/agents/echo/stream`, key, { query: "hi" })) as readonly ClientEvent[];
      expect([named(events), contentOf(events)]).toEqual([
        ["start", "chunk", "chunk", "chunk", "done"],
        "You said: hi",
      ]);
    } finally {
      await stop();
    }
  });

  it.skipIf(!isThere)("gets the reason if a stream fails to open", async () => {
    await expect(read("echo", { query: "x" }, "ah_wrong")).rejects.toThrow("401");
  });
});
