import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { rateLimitHeaders } from "../spec/headers.ts";
import { startReference, virtualClock, type ReferenceOptions, type RequestLine } from "./reference.ts";
import { eventually, testServer, type TestCall } from "./testing/test-server.ts";

async function started(options: ReferenceOptions = {}) {
  const server = await testServer(options);
  onTestFinished(() => server.close());
  return server;
}

const headersOf = (text: string) => (text.split("\r\n\r\n")[0] ?? "").split("\r\n").slice(1);

describe("every response has the four rate-limit headers and the clock's date", () => {
  const cases: readonly (readonly [string, string, TestCall, number])[] = [
    ["success", "/agents/echo/invoke", { body: { query: "x" } }, 200],
    ["a stream", "/agents/echo/stream", { body: { query: "x" } }, 200],
    ["health", "/agents/echo/health", {}, 200],
    ["the list", "/agents", {}, 200],
    ["usage", "/usage", {}, 200],
    ["400", "/agents/echo/invoke", { body: {} }, 400],
    ["400 for JSON", "/agents/echo/invoke", { body: "{" }, 400],
    ["401", "/usage", { key: null }, 401],
    ["403", "/agents/echo/invoke", { key: "reader", body: { query: "x" } }, 403],
    ["404 of an agent", "/agents/nobody/invoke", { body: { query: "x" } }, 404],
    ["404 of a path", "/nothing", {}, 404],
    ["404 of a path with a body", "/nothing", { body: "{" }, 404],
    ["404 outside the version", "/v1x", {}, 404],
    ["a path that cannot be read", "/%zz", {}, 400],
    ["413", "/agents/echo/invoke", { body: "x".repeat(1_100_000) }, 413],
    ["429", "/agents/echo/invoke", { key: "quota", body: { query: "many words ".repeat(50) } }, 429],
    ["500", "/agents/crasher/invoke", { body: { query: "x" } }, 500],
    ["a bad signature", "/usage", { headers: { "x-signature": "00" } }, 401],
    ["OpenAPI", "/v1/../openapi.json", { key: null }, 200],
  ];
  it.each(cases)("%s", async (_name, path, call, status) => {
    const server = await started();
    if (status === 429) await server.call(path, call);
    const answer = await server.call(path, call);
    expect(answer.status).toBe(status);
    expect(answer.headers["date"]).toBe("Wed, 04 Mar 2026 05:06:07 GMT");
    for (const name of rateLimitHeaders) expect(answer.headers[name.toLowerCase()]).toMatch(/^\d+$/);
  });

  it.each([
    ["nonsense", "NONSENSE\r\n\r\n", 400],
    ["a bad header", "GET /v1/usage HTTP/1.1\r\nBad Header\r\n\r\n", 400],
    ["no Host", "GET /v1/usage HTTP/1.1\r\nAuthorization: Bearer KEY\r\nConnection: close\r\n\r\n", 400],
    ["an expectation", "GET /v1/usage HTTP/1.1\r\nHost: x\r\nExpect: more\r\nConnection: close\r\n\r\n", 401],
  ])("even to %s", async (_name, bytes, status) => {
    const server = await started();
    const text = await server.raw(bytes.replace("KEY", server.reference.issueKey("pro").key));
    expect(text).toContain(`HTTP/1.1 ${status} `);
    for (const name of [...rateLimitHeaders, "Date"]) {
      expect(headersOf(text).filter((line) => line.startsWith(`${name}: `))).toHaveLength(1);
    }
    expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toMatchObject({ error: { status } });
  });

  it("are consistent with each other and with the date", async () => {
    const server = await started();
    const { headers } = await server.call("/usage");
    const dateSeconds = Date.parse(String(headers["date"])) / 1000;
    expect(Number(headers["x-ratelimit-reset"]) - dateSeconds).toBe(Number(headers["x-ratelimit-reset-after"]));
    expect(headers["x-ratelimit-reset-after"]).toBe("53");
  });
});

describe("the clock", () => {
  it("is the server's only source of time", async () => {
    const server = await started();
    const answer = server.invoke("sleeper");
    await eventually(async () => {
      const { json } = await server.call("/agents/sleeper/health");
      return typeof json === "object" && json !== null && "last_request" in json;
    });
    await server.reference.advance(2000);
    expect((await answer).json).toMatchObject({ metadata: { execution_time: 2 } });
    expect((await server.call("/usage")).headers["date"]).toBe("Wed, 04 Mar 2026 05:06:09 GMT");
  });

  it("ends an execution that takes too long", async () => {
    const server = await started();
    const answer = server.invoke("stuck");
    await eventually(async () => (await server.call("/agents/stuck/health")).text.includes("last_request"));
    await server.reference.advance(30_000);
    expect([(await answer).status, (await answer).json]).toMatchObject([500, { error: { code: "AGENT_TIMEOUT" } }]);
  });

  it("expires temporary keys", async () => {
    const server = await started();
    expect((await server.call("/usage", { key: "temporary" })).status).toBe(200);
    await server.reference.advance(600_000);
    expect((await server.call("/usage", { key: "temporary" })).json).toMatchObject({
      error: { code: "EXPIRED_API_KEY" },
    });
  });

  it("can be moved over HTTP by a client in another process", async () => {
    const server = await started();
    const advance = (body: object) => server.call("/v1/../clock/advance", { key: null, body });
    expect((await advance({ seconds: 90.5 })).json).toEqual({ now: "2026-03-04T05:07:37.500Z" });
    expect((await advance({ seconds: -1 })).status).toBe(400);
    expect((await advance({})).status).toBe(400);
    expect((await advance({ seconds: 1e15 })).status).toBe(400);
    expect((await server.call("/usage")).headers["date"]).toBe("Wed, 04 Mar 2026 05:07:37 GMT");
  });

  it("cannot be advanced if it is the machine's clock", async () => {
    const reference = await startReference();
    await expect(reference.advance(1)).rejects.toThrow(/machine's clock/);
    await reference.close();
  });

  it("makes two servers send the same responses", async () => {
    const texts = await Promise.all(
      [0, 1].map(async () => {
        const server = await started();
        const { status, headers, text } = await server.invoke("keeper", { body: { query: "a", session_id: "s" } });
        return JSON.stringify([status, headers, text]);
      }),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});

describe("a server", () => {
  it("closes at once with open streams and idle connections", async () => {
    const server = await testServer();
    const stream = await server.stream("dripper");
    await stream.until("event: start");
    const waiting = server.invoke("sleeper").catch(() => "cut");
    const idle = connect(Number(new URL(server.reference.baseUrl).port), "127.0.0.1");
    const closed = new Promise((resolve) => void idle.once("close", resolve));
    idle.on("error", () => {});
    await new Promise((resolve) => void idle.once("connect", resolve));
    await server.reference.close();
    await expect(stream.until("event: done")).rejects.toThrow(/ended|closed|terminated/);
    expect(await waiting).toBe("cut");
    await closed;
    await server.close();
  });

  it("rejects with Node's own code if the port is taken", async () => {
    const server = await started();
    const port = Number(new URL(server.reference.baseUrl).port);
    await expect(startReference({ port, clock: virtualClock() })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  it("logs one line for each request, with the key's name but not the key", async () => {
    const lines: RequestLine[] = [];
    const server = await started({ onRequest: (line) => void lines.push(line) });
    await server.invoke("echo", { key: "pro" });
    await server.call("/usage", { key: "ah_secret" });
    await eventually(
      async () => (await server.call("/agents/echo/health", { key: "pro" })).status === 200 && lines.length > 2,
    );
    expect(lines.slice(0, 2)).toMatchObject([
      { method: "POST", path: "/v1/agents/echo/invoke", status: 200, key: "pro", left: false },
      { method: "GET", path: "/v1/usage", status: 401, key: null, left: false },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/ah_/);
  });

  it("issues keys that were never used", async () => {
    const server = await started();
    const keys = [server.reference.issueKey("free"), server.reference.issueKey("free")];
    expect(new Set(keys.map(({ key }) => key)).size).toBe(2);
    for (const { key, name } of keys) {
      expect(key).toMatch(/^[a-z]{2}_/);
      expect((await server.call("/usage", { key: name })).headers["x-ratelimit-remaining"]).toBe("9");
    }
  });

  it("publishes OpenAPI 3.1 of its endpoints", async () => {
    const server = await started();
    const { json } = await server.call("/v1/../openapi.json", { key: null });
    expect(json).toMatchObject({ openapi: "3.1.0", info: { version: "v1" } });
    const { paths } = json as { paths: Record<string, Record<string, { responses: object; summary: string }>> };
    expect(Object.keys(paths).toSorted()).toEqual([
      "/api/v1/agents/{agent_id}/execute/{entrypoint_tag}",
      "/v1/agents",
      "/v1/agents/{agent_id}",
      "/v1/agents/{agent_id}/batch",
      "/v1/agents/{agent_id}/health",
      "/v1/agents/{agent_id}/invoke",
      "/v1/agents/{agent_id}/operations",
      "/v1/agents/{agent_id}/stream",
      "/v1/alerts",
      "/v1/keys/usage",
      "/v1/operations/{operation_id}",
      "/v1/usage",
      "/v1/webhooks",
      "/v1/webhooks/{webhook_id}/deliveries",
      "/v1/webhooks/{webhook_id}/metrics",
    ]);
    for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
      expect(operation.summary).not.toBe("");
      expect(Object.keys(operation.responses)).toContain("401");
    }
  });
});
