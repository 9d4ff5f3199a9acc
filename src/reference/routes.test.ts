import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { virtualEpochMs } from "./clock.ts";
import { testServer, type TestCall, type TestServer } from "./testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

describe("invoke", () => {
  it("responds with result, usage and metadata", async () => {
    const { status, json } = await server.invoke("echo");
    expect(status).toBe(200);
    expect(json).toEqual({
      result: { output: "You said: hello" },
      usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
      metadata: { execution_time: 0, agent_version: "1.0.0", request_id: "req_00000001" },
    });
  });

  it.each([
    ["temperature 0.0", { temperature: 0 }],
    ["temperature 2.0", { temperature: 2 }],
    ["unknown parameters", { flavour: "sweet", nested: { deep: [1] } }],
    ["a context", { context: { user: "ada" } }],
  ])("accepts %s", async (_name, parameters) => {
    expect((await server.invoke("echo", { body: { query: "x", parameters } })).status).toBe(200);
  });

  it.each([
    ["no query", {}, "MISSING_REQUIRED_FIELD"],
    ["an empty body", "", "MISSING_REQUIRED_FIELD"],
    ["a query that is a number", { query: 7 }, "INVALID_INPUT"],
    ["a body that is an array", [], "INVALID_INPUT"],
    ["a body that is no JSON", "{", "INVALID_INPUT"],
    ["a temperature above 2", { query: "x", parameters: { temperature: 2.1 } }, "INVALID_INPUT"],
    ["a temperature below 0", { query: "x", parameters: { temperature: -0.1 } }, "INVALID_INPUT"],
    ["max_tokens that is no integer", { query: "x", parameters: { max_tokens: 1.5 } }, "INVALID_INPUT"],
    ["a session that is a number", { query: "x", session_id: 1 }, "INVALID_INPUT"],
  ])("refuses %s", async (_name, body, code) => {
    const { status, json } = await server.invoke("echo", { body });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code, status: 400 } });
  });

  it("refuses another content type", async () => {
    const { status, json } = await server.invoke("echo", { headers: { "content-type": "text/plain" } });
    expect([status, json]).toMatchObject([400, { error: { code: "INVALID_INPUT" } }]);
  });

  it("refuses a body of more than 1 MiB, and reads one of 1 MiB", async () => {
    const frame = JSON.stringify({ query: "" }).length;
    const query = "x".repeat(1024 * 1024 - frame);
    expect((await server.invoke("echo", { body: { query } })).status).toBe(200);
    expect((await server.invoke("echo", { body: { query: `${query}x` } })).status).toBe(413);
  });

  it("cuts the response at max_tokens", async () => {
    const { json } = await server.invoke("storyteller", { body: { query: "go", parameters: { max_tokens: 3 } } });
    expect(json).toMatchObject({ result: { output: "line-001 line-002 line-003" }, usage: { completion_tokens: 3 } });
  });

  it("remembers a session of one key and one agent", async () => {
    const ask = (query: string, session_id: string, key: string) =>
      server.invoke("keeper", { key, body: { query, session_id } }).then(({ json }) => json);
    expect(await ask("one", "s", "pro")).toMatchObject({ result: { turn: 1, previous_query: null } });
    expect(await ask("two", "s", "pro")).toMatchObject({ result: { turn: 2, previous_query: "one" } });
    expect(await ask("two", "t", "pro")).toMatchObject({ result: { turn: 1 } });
    expect(await ask("two", "s", "team")).toMatchObject({ result: { turn: 1 } });
  });

  it("preserves text in any script", async () => {
    const query = "é́ 你好 👩‍👩‍👧 \u0000 \ud83d\ude42";
    const { json } = await server.invoke("echo", { body: { query } });
    expect(json).toMatchObject({ result: { output: `You said: ${query}` } });
  });

  it.each([
    ["nobody", 404, "AGENT_NOT_FOUND"],
    ["x".repeat(500), 404, "AGENT_NOT_FOUND"],
    ["crasher", 500, "INTERNAL_ERROR"],
    ["down", 500, "INTERNAL_ERROR"],
    ["full", 500, "INTERNAL_ERROR"],
  ])("of %s answers %i %s", async (agent, status, code) => {
    const answer = await server.invoke(agent);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ error: { code, status } });
  });

  it("reports the same version as health", async () => {
    const { json } = await server.invoke("elder");
    const health = await server.call("/agents/elder/health");
    expect(json).toMatchObject({ metadata: { agent_version: "0.9.3" } });
    expect(health.json).toMatchObject({ version: "0.9.3" });
  });
});

describe("health", () => {
  it.each([
    ["echo", "healthy", false],
    ["worn", "degraded", true],
    ["down", "unhealthy", false],
  ])("of %s is %s", async (agent, status, warns) => {
    const { status: http, json } = await server.call(`/agents/${agent}/health`);
    expect(http).toBe(200);
    expect(json).toMatchObject({ status, checks: { agent: { status }, dependencies: {}, resources: {} } });
    expect(typeof json === "object" && json !== null && "warnings" in json).toBe(warns);
  });

  it("of an unknown agent is 404", async () => {
    expect((await server.call("/agents/nobody/health")).status).toBe(404);
  });
});

describe("listing", () => {
  it.each([
    ["", { page: 1, limit: 20, total: 27, pages: 2 }, 20],
    ["?page=2", { page: 2, limit: 20, total: 27, pages: 2 }, 7],
    ["?page=3&limit=10", { page: 3, limit: 10, total: 27, pages: 3 }, 7],
    ["?page=9&limit=10", { page: 9, limit: 10, total: 27, pages: 3 }, 0],
    ["?page=0&limit=0", { page: 1, limit: 1, total: 27, pages: 27 }, 1],
    ["?page=-3&limit=1000", { page: 1, limit: 100, total: 27, pages: 1 }, 27],
  ])("with %j", async (query, pagination, count) => {
    const { json } = await server.call(`/agents${query}`);
    expect(json).toMatchObject({ pagination });
    expect(json).toHaveProperty("data.length", count);
  });

  it.each(["?page=x", "?limit=1.5", "?page=1&page=2x"])("refuses %s", async (query) => {
    expect((await server.call(`/agents${query}`)).status).toBe(400);
  });
});

describe("usage", () => {
  it("reports the hour's requests and the month's tokens", async () => {
    const { name } = server.reference.issueKey("free");
    await server.invoke("echo", { key: name });
    const { json } = await server.call("/usage", { key: name });
    expect(json).toEqual({
      period: "2026-03-01T00:00:00Z",
      requests: { used: 2, limit: 100, remaining: 98 },
      tokens: { used: 4, limit: 100_000, remaining: 99_996 },
    });
  });
});

describe("keys", () => {
  const refused: readonly (readonly [string, TestCall, string])[] = [
    ["no key", { key: null }, "INVALID_API_KEY"],
    ["a wrong key", { key: "ah_wrong" }, "INVALID_API_KEY"],
    ["an expired key", { key: "expired" }, "EXPIRED_API_KEY"],
    ["another scheme", { key: null, headers: { authorization: "Basic YWI6Y2Q=" } }, "INVALID_API_KEY"],
    ["a scheme alone", { key: null, headers: { authorization: "Bearer" } }, "INVALID_API_KEY"],
  ];
  it.each(refused)("%s is refused everywhere with 401", async (_name, call, code) => {
    const asks = ["/agents/echo/health", "/agents", "/usage", "/nothing"].map((path) => server.call(path, call));
    const turns = ["invoke", "stream"].map((turn) => server.call(`/agents/nobody/${turn}`, { ...call, body: "{" }));
    for (const { status, json } of await Promise.all([...asks, ...turns])) {
      expect([status, json]).toMatchObject([401, { error: { code, status: 401 } }]);
    }
  });

  it("are accepted with any case of the scheme", async () => {
    const key = server.reference.keys.find(({ name }) => name === "team")?.key ?? "";
    const { status } = await server.call("/usage", { key: null, headers: { authorization: `bEARER  ${key}` } });
    expect(status).toBe(200);
  });

  it.each([
    ["reader", "/agents/echo/invoke", 403],
    ["reader", "/agents/echo/health", 200],
    ["oneAgent", "/agents/echo/invoke", 200],
    ["oneAgent", "/agents/keeper/invoke", 403],
    ["elsewhere", "/agents/echo/invoke", 403],
  ])("%s on %s gets %i", async (key, path, status) => {
    const call = path.endsWith("invoke") ? { key, body: { query: "x" } } : { key };
    expect((await server.call(path, call)).status).toBe(status);
  });
});

describe("a signed request", () => {
  const path = "/v1/agents/echo/invoke";
  const body = JSON.stringify({ query: "grüezi" });
  const nowSeconds = virtualEpochMs / 1000;
  const sign = (timestamp: number, text: string) =>
    createHmac("sha256", "reference-signing-secret").update(`POST\n${path}\n${timestamp}\n${text}`).digest("hex");
  it.each([
    ["with a good signature", nowSeconds, sign(nowSeconds, body), 200],
    ["over another body", nowSeconds, sign(nowSeconds, "{}"), 401],
    ["in upper case", nowSeconds, sign(nowSeconds, body).toUpperCase(), 401],
    ["of yesterday", nowSeconds - 86_400, sign(nowSeconds - 86_400, body), 401],
    ["without its timestamp", null, sign(nowSeconds, body), 401],
  ])("%s", async (_name, timestamp, signature, status) => {
    const headers = { "x-signature": signature, ...(timestamp === null ? {} : { "x-timestamp": String(timestamp) }) };
    expect((await server.call(path, { body, headers })).status).toBe(status);
  });

  it("has the signature of an independent tool", () => {
    // printf 'POST\n/v1/agents/echo/invoke\n1772600767\n{"query":"hi"}' | openssl dgst -sha256 -hmac
    // reference-signing-secret
    expect(sign(1_772_600_767, '{"query":"hi"}')).toBe(
      "84ed83fe0b0c2a421b1757ff9577ecad205b11c39bc83f47abc01f283275bc06",
    );
  });
});

describe("a request that the document does not define", () => {
  it.each([
    ["GET", "/nothing"],
    ["DELETE", "/usage"],
    ["GET", "/agents/echo/invoke"],
    ["GET", "/v2/usage"],
    ["PATCH", "/agents"],
  ])("%s %s is 404 in the error form, and not of an agent", async (method, path) => {
    const { status, json } = await server.call(path, { method });
    expect([status, json]).toMatchObject([404, { error: { code: "NOT_FOUND", status: 404 } }]);
  });
});
