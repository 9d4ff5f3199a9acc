import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { EventSource } from "eventsource";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publishedTiers } from "../spec/tiers.ts";
import { systemClock } from "./clock.ts";
import { pythonJson, withoutPython } from "./testing/clients/python.ts";
import { eventually, testServer, type TestServer } from "./testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ clock: systemClock() });
});
afterAll(() => server.close());

/** An event from a public client. */
interface ClientEvent {
  readonly name: string;
  readonly data: unknown;
}

/**
 * Reads a stream with the package `eventsource`, as a user's program would. Sends a POST by way of the package's
 * `fetch` option. Closes at `done` or `error`, or after `count` events. Rejects if the connection fails.
 */
function readWithEventSource(url: string, key: string, body: object, count = Infinity): Promise<ClientEvent[]> {
  return new Promise((resolve, reject) => {
    const events: ClientEvent[] = [];
    const source = new EventSource(url, {
      fetch: (input, init) =>
        fetch(input, {
          ...init,
          method: "POST",
          headers: { ...init.headers, authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
    });
    const take = (event: Event) => {
      if (!(event instanceof MessageEvent)) return;
      events.push({ name: event.type, data: JSON.parse(String(event.data)) });
      if (events.length < count && event.type !== "done" && event.type !== "error") return;
      source.close();
      resolve(events);
    };
    for (const name of ["start", "chunk", "done", "error"]) source.addEventListener(name, take);
    source.addEventListener("error", (event) => {
      // An error event of the package itself has no data. The server's event `error` has data.
      if (event instanceof MessageEvent) return;
      source.close();
      reject(new Error(`${url}: ${event.message ?? "the connection failed"}`));
    });
  });
}

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

/** Starts `conformance serve` in a separate process, on a free port. Rejects if the process ends before it serves. */
async function startServe() {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("../cli/main.ts", import.meta.url)), "serve", "--port", "0", "--quiet"],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const baseUrl = /^base URL +(\S+)$/m.exec(lines.join("\n"))?.[1];
    const key = /^ +enterprise +enterprise +(\S+)$/.exec(line)?.[1];
    if (baseUrl !== undefined && key !== undefined) return { baseUrl, key, stop };
  }
  throw new Error(`conformance serve ended without a base URL and a key: ${lines.join("\n")}`);
}

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
