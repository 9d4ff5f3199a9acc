import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { hasOpenssl } from "../base/testing/test-scope.ts";
import { rateLimitHeaders } from "../spec/headers.ts";
import { virtualEpochMs } from "./clock.ts";
import { signingSecret } from "./keys.ts";
import { startReference, virtualClock, type ReferenceOptions } from "./reference.ts";
import { testServer, type TestCall, type TestServer } from "./testing/test-server.ts";

async function started(options: ReferenceOptions = {}): Promise<TestServer> {
  const server = await testServer(options);
  onTestFinished(() => server.close());
  return server;
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;

const execute = (tag: string, agent = "echo") => `/v1/../api/v1/agents/${agent}/execute/${tag}`;

describe("a batch", () => {
  const submit = async (server: TestServer, queries: readonly string[], call: TestCall = {}) => {
    const body = { batch: queries.map((query) => ({ query })) };
    const { json } = await server.call("/agents/echo/batch", { body, ...call });
    return String(field(json, "check_url"));
  };

  it("responds with the handle of an operation", async () => {
    const server = await started();
    const { status, json, headers } = await server.call("/agents/echo/batch", { body: { batch: [{ query: "a" }] } });
    expect(status).toBe(201);
    expect(json).toEqual({
      operation_id: "op_00000001",
      status: "pending",
      check_url: "/v1/operations/op_00000001",
    });
    for (const name of rateLimitHeaders) expect(headers[name.toLowerCase()]).toMatch(/^\d+$/);
  });

  it("runs on the clock: pending, running, completed with every result", async () => {
    const server = await started();
    const path = await submit(server, ["one", "two"]);
    const read = async () => (await server.call(path)).json;
    expect(await read()).toMatchObject({ status: "pending", progress: { completed: 0, total: 2 } });
    await server.reference.advance(300);
    expect(await read()).toMatchObject({ status: "running" });
    expect(field(await read(), "results")).toBeUndefined();
    await server.reference.advance(1000);
    expect(await read()).toMatchObject({
      status: "completed",
      results: [
        { index: 0, status: "success", result: { output: "You said: one" }, usage: { total_tokens: 4 } },
        { index: 1, status: "success", result: { output: "You said: two" } },
      ],
    });
  });

  it("fails if all of its entries fail", async () => {
    const server = await started();
    const { json } = await server.call("/agents/crasher/batch", { body: { batch: [{ query: "x" }] } });
    await server.reference.advance(1000);
    expect((await server.call(String(field(json, "check_url")))).json).toMatchObject({
      status: "failed",
      results: [{ index: 0, status: "error", error: { code: "INTERNAL_ERROR" } }],
    });
  });

  it("counts as one request and uses the tokens of each entry", async () => {
    const server = await started();
    await submit(server, ["one", "two", "three"]);
    await server.reference.advance(2000);
    const { json } = await server.call("/usage");
    expect(json).toMatchObject({ requests: { used: 2 }, tokens: { used: 12 } });
  });

  it("fails its entries after the month's tokens are used up", async () => {
    const server = await started();
    const path = await submit(
      server,
      Array.from({ length: 6 }, () => "a b c"),
      { key: "quota" },
    );
    await server.reference.advance(5000);
    const results = field((await server.call(path, { key: "quota" })).json, "results");
    const kinds = Array.isArray(results) ? results.map((result) => field(result, "status")) : [];
    expect(kinds).toEqual(["success", "success", "success", "error", "error", "error"]);
  });

  it("is unknown to other keys", async () => {
    const server = await started();
    const path = await submit(server, ["x"]);
    expect(await server.call(path, { key: "free" })).toMatchObject({
      status: 404,
      json: { error: { code: "OPERATION_NOT_FOUND" } },
    });
    expect((await server.call("/operations/op_99999999")).status).toBe(404);
  });

  const many = Array.from({ length: 101 }, () => ({ query: "x" }));
  it.each<[string, unknown, string]>([
    ["without batch", {}, "MISSING_REQUIRED_FIELD"],
    ["with an empty body", "", "MISSING_REQUIRED_FIELD"],
    ["that is no JSON", "{", "INVALID_INPUT"],
    ["that is no array", { batch: {} }, "INVALID_INPUT"],
    ["that is empty", { batch: [] }, "INVALID_INPUT"],
    ["of more than 100", { batch: many }, "INVALID_INPUT"],
    ["with an entry that is no object", { batch: [{ query: "x" }, 1] }, "INVALID_INPUT"],
    ["with an entry without query", { batch: [{ query: "x" }, {}] }, "MISSING_REQUIRED_FIELD"],
    ["with a query that is no string", { batch: [{ query: 1 }] }, "INVALID_INPUT"],
    ["with parameters that are no object", { batch: [{ query: "x", parameters: [] }] }, "INVALID_INPUT"],
  ])("%s is refused", async (_name, body, code) => {
    const server = await started();
    expect(await server.call("/agents/echo/batch", { body })).toMatchObject({ status: 400, json: { error: { code } } });
  });

  it("is refused for an unknown agent", async () => {
    const server = await started();
    const { json } = await server.call("/agents/nobody/batch", { body: { batch: [{ query: "x" }] } });
    expect(json).toMatchObject({ error: { code: "AGENT_NOT_FOUND", status: 404 } });
  });
});

describe("the local execution path", () => {
  it("responds like invoke", async () => {
    const server = await started();
    const { status, json } = await server.call(execute("answer"), { body: { query: "x" } });
    expect([status, json]).toMatchObject([200, { result: { output: "You said: x" }, usage: { total_tokens: 4 } }]);
  });

  it("streams if the tag ends in _stream", async () => {
    const server = await started();
    const { headers, text } = await server.call(execute("answer_stream"), { body: { query: "x" } });
    expect(headers["content-type"]).toMatch(/^text\/event-stream/);
    expect(text).toMatch(/^event: start\n[^]*event: done\n/);
  });

  it.each([
    ["an unknown tag", execute("nothing"), { query: "x" }, 404, "ENTRYPOINT_NOT_FOUND"],
    ["an unknown streaming tag", execute("nothing_stream"), { query: "x" }, 404, "ENTRYPOINT_NOT_FOUND"],
    ["an unknown agent", execute("answer", "nobody"), { query: "x" }, 404, "AGENT_NOT_FOUND"],
    ["no query", execute("answer"), {}, 400, "MISSING_REQUIRED_FIELD"],
  ])("refuses %s", async (_name, path, body, status, code) => {
    const server = await started();
    expect(await server.call(path, { body })).toMatchObject({ status, json: { error: { code } } });
  });
});

describe("the details of an agent and of a key", () => {
  it("describe an agent", async () => {
    const server = await started();
    expect((await server.call("/agents/elder")).json).toMatchObject({
      agent_id: "elder",
      version: "0.9.3",
      lifecycle: "ready",
      entrypoints: [{ tag: "answer" }, { tag: "answer_stream" }],
      deployment: { deployment_id: "dep_elder", timeout: 30, memory: "512MB" },
    });
    expect((await server.call("/agents/nobody")).status).toBe(404);
  });

  it("describe the key of the request without its text", async () => {
    const server = await started();
    const first = await server.call("/keys/usage", { key: "oneAgent" });
    expect(first.json).toMatchObject({
      key: { name: "oneAgent", tier: "pro", scope: "full", agents: ["echo"], allowed_ips: null, expires_at: null },
      period: "2026-03-01T00:00:00Z",
      requests: { used: 1, limit: 1000, remaining: 999 },
      tokens: { used: 0 },
      last_used: null,
    });
    expect(first.text).not.toContain("ah_");
    await server.reference.advance(5000);
    const second = await server.call("/keys/usage", { key: "oneAgent" });
    expect(second.json).toMatchObject({ last_used: "2026-03-04T05:06:07Z" });
    const temporary = await server.call("/keys/usage", { key: "temporary" });
    expect(temporary.json).toMatchObject({ key: { expires_at: "2026-03-04T05:16:07Z" } });
  });
});

describe("a restricted key", () => {
  it.each([
    ["/agents/echo/invoke", { query: "x" }],
    ["/agents/echo/stream", { query: "x" }],
    ["/agents/echo/batch", { batch: [{ query: "x" }] }],
    [execute("answer"), { query: "x" }],
  ])("that may only read is refused at %s", async (path, body) => {
    const server = await started();
    expect((await server.call(path, { key: "reader", body })).status).toBe(403);
  });

  it.each(["/agents/keeper", "/agents/keeper/health"])("of another agent is refused at %s", async (path) => {
    const server = await started();
    expect((await server.call(path, { key: "oneAgent" })).status).toBe(403);
  });

  it("for some addresses works only from those addresses, which a trusted proxy may report", async () => {
    const statusOf = async (options: ReferenceOptions, headers: Record<string, string>) =>
      (await (await started(options)).call("/usage", { key: "elsewhere", headers })).status;
    const trusting = { trustedProxies: ["127.0.0.0/8"] };
    expect(await statusOf({}, { "x-forwarded-for": "203.0.113.9" })).toBe(403);
    expect(await statusOf(trusting, { "x-forwarded-for": "203.0.113.9" })).toBe(200);
    expect(await statusOf(trusting, { forwarded: "for=203.0.113.9" })).toBe(200);
    expect(await statusOf(trusting, { "x-forwarded-for": "203.0.113.9, 198.51.100.1" })).toBe(403);
    expect(await statusOf(trusting, {})).toBe(403);
  });

  it("may have a CIDR as its addresses", async () => {
    const server = await started();
    const key = server.reference.issueKey("pro", { allowedIps: ["127.0.0.0/8"] }).name;
    const other = server.reference.issueKey("pro", { allowedIps: ["10.0.0.0/8"] }).name;
    expect((await server.call("/usage", { key })).status).toBe(200);
    expect((await server.call("/usage", { key: other })).status).toBe(403);
  });
});

describe("a signed request", () => {
  const timestamp = String(virtualEpochMs / 1000);
  const headersFor = (method: string, path: string, body: Uint8Array | string) => ({
    "x-timestamp": timestamp,
    "x-signature": createHmac("sha256", signingSecret)
      .update(`${method}\n${path}\n${timestamp}\n`)
      .update(body)
      .digest("hex"),
  });
  const invokePath = "/v1/agents/echo/invoke";

  it.each([
    ["ASCII", JSON.stringify({ query: "x" })],
    ["other scripts", JSON.stringify({ query: "é 你好 👩‍👩‍👧" })],
    ["white space", '{\n  "query" : "x"\n}\n'],
    ["a byte-order mark's text", JSON.stringify({ query: "\ufeffx" })],
  ])("is let in with %s in its body", async (_name, body) => {
    const server = await started();
    const { status } = await server.call(invokePath, { body, headers: headersFor("POST", invokePath, body) });
    expect(status).toBe(200);
  });

  it("is checked by its bytes, not by the decoded text", async () => {
    const server = await started();
    // UTF-8 decoding turns each invalid byte into the same character.
    const bytes = Buffer.concat([Buffer.from('{"query":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const key = server.reference.issueKey("pro").key;
    const signed = headersFor("POST", invokePath, bytes);
    const head = [
      `POST ${invokePath} HTTP/1.1`,
      "Host: x",
      "Connection: close",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${bytes.length}`,
      ...Object.entries(signed).map(([name, value]) => `${name}: ${value}`),
    ].join("\r\n");
    expect(await server.raw(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), bytes]))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("is accepted without a body and with a query string", async () => {
    const server = await started();
    const path = "/v1/agents?page=1&limit=5";
    expect((await server.call(path, { headers: headersFor("GET", path, "") })).status).toBe(200);
  });

  it.each([
    ["of another body", headersFor("POST", invokePath, "{}")],
    ["of another path", headersFor("POST", "/v1/agents/keeper/invoke", JSON.stringify({ query: "x" }))],
    ["in upper case", upper(headersFor("POST", invokePath, JSON.stringify({ query: "x" })))],
    ["that is short", { "x-signature": "00", "x-timestamp": timestamp }],
    ["without a timestamp", { "x-signature": "00" }],
    ["of which only the timestamp is there", { "x-timestamp": timestamp }],
  ])("is refused with a signature %s", async (_name, headers) => {
    const server = await started();
    const { status, json } = await server.call(invokePath, { body: { query: "x" }, headers });
    expect([status, json]).toMatchObject([401, { error: { code: "INVALID_SIGNATURE" } }]);
  });

  function upper(headers: { "x-timestamp": string; "x-signature": string }) {
    return { ...headers, "x-signature": headers["x-signature"].toUpperCase() };
  }
});

describe("the clock over HTTP", () => {
  it.each([
    ["without a token", {}, 401],
    ["with a wrong token", { "x-control-token": "sesam" }, 401],
    ["with the token", { "x-control-token": "open sesame" }, 200],
  ])("%s", async (_name, headers, expected) => {
    const server = await started({ controlToken: "open sesame" });
    const path = "/v1/../clock/advance";
    const { status } = await server.call(path, { key: null, body: { seconds: 60 }, headers });
    const { headers: after } = await server.call("/usage");
    expect(status).toBe(expected);
    expect(after["date"]).toBe(expected === 200 ? "Wed, 04 Mar 2026 05:07:07 GMT" : "Wed, 04 Mar 2026 05:06:07 GMT");
  });
});

describe("over HTTPS", () => {
  it.skipIf(!hasOpenssl())("the same responses come (skipped without the command openssl)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "certificate-"));
    const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        .concat(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
        .concat(["-keyout", keyPath, "-out", certPath]),
      { stdio: "ignore" },
    );
    const cert = readFileSync(certPath, "utf8");
    const reference = await startReference({
      clock: virtualClock(),
      tls: { cert, key: readFileSync(keyPath, "utf8") },
    });
    onTestFinished(() => reference.close());
    expect(reference.baseUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/v1$/);
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      const authorization = `Bearer ${reference.issueKey("pro").key}`;
      request(`${reference.baseUrl}/usage`, { ca: cert, headers: { authorization } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(answer).toBe(200);
  });
});
