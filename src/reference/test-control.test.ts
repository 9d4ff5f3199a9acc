import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { getPath } from "../base/json.ts";
import { systemClock } from "./clock.ts";
import type { ReferenceOptions } from "./reference.ts";
import { pythonJson, withoutPython } from "./testing/clients/python.ts";
import { testServer, type TestCall } from "./testing/test-server.ts";

const token = "token-of-the-control";
const contract: unknown = JSON.parse(
  readFileSync(new URL("../../schemas/test-control.openapi.json", import.meta.url), "utf8"),
);

async function started(options: ReferenceOptions = {}) {
  const server = await testServer({ controlToken: token, ...options });
  onTestFinished(() => server.close());
  const control = (path: string, { headers, ...call }: TestCall = {}) =>
    server.call(`/v1/../test-control${path}`, {
      key: null,
      headers: { "X-Control-Token": token, ...headers },
      ...call,
    });
  return {
    control,
    call: (path: string, call?: TestCall) => server.call(path, call),
    invoke: (agent: string, call?: TestCall) => server.invoke(agent, call),
  };
}

/** Returns the errors of a response's body by the contract, or `null`. */
function breachesOf(method: string, path: string, body: unknown): unknown {
  const schema = getPath(contract, "paths", path, method, "responses", "200", "content", "application/json", "schema");
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.validate(schema as object, body) ? null : ajv.errors;
}

describe("the test control of the reference server", () => {
  it.each<["get" | "post", string, object | undefined]>([
    ["get", "", undefined],
    ["post", "/clock/advance", { seconds: 60 }],
    ["post", "/deployments", { agent_id: "echo", event: "updated" }],
    ["post", "/trouble", { requests: 2, kind: "drop", agent_id: "echo" }],
    ["get", "/keys", undefined],
    ["post", "/keys", { tier: "free", scope: "read-only", agents: ["echo"], expires_in_seconds: 60 }],
    ["get", "/agents", undefined],
  ])("answers as its contract says: %s %s", async (method, path, body) => {
    const { control } = await started();
    const { status, json } = await control(path, body === undefined ? {} : { body });
    expect([status, breachesOf(method, `/test-control${path}`, json)]).toEqual([200, null]);
  });

  it("says which calls exist: a real clock cannot be moved", async () => {
    const { control } = await started({ clock: systemClock() });
    expect((await control("")).json).toMatchObject({ calls: expect.not.arrayContaining(["clock"]) as unknown });
    for (const key of ["pro", null])
      expect((await control("/clock/advance", { key, body: { seconds: 1 } })).status).toBe(404);
  });

  it.each<[string, ReferenceOptions, TestCall["headers"], number]>([
    ["without a token in its configuration", { controlToken: null }, {}, 404],
    ["under a host name that is not named", { controlHosts: ["staging.acme.example"] }, { host: "evil.example" }, 404],
    [
      "under a host name that is named",
      { controlHosts: ["Staging.acme.example"] },
      { host: "staging.acme.example" },
      200,
    ],
    ["under a name of loopback", {}, { host: "localhost:8787" }, 200],
    ["with a wrong token", {}, { "X-Control-Token": "wrong" }, 401],
  ])("%s", async (_name, options, headers, status) => {
    const { control } = await started(options);
    expect((await control("/agents", { headers: headers ?? {} })).status).toBe(status);
  });

  it("lets as many invokes of an agent fail as were asked for, and no other request", async () => {
    const { control, invoke, call } = await started();
    await control("/trouble", { body: { requests: 2, agent_id: "echo" } });
    const statuses = [await invoke("keeper"), await call("/agents/echo/health")].map(({ status }) => status);
    expect(statuses).toEqual([200, 200]);
    for (const status of [500, 500, 200]) expect((await invoke("echo")).status).toBe(status);
  });

  it("closes connections without a response, and the slots are free again", async () => {
    const { control, invoke } = await started();
    await control("/trouble", { body: { requests: 3, kind: "drop" } });
    for (let dropped = 0; dropped < 3; dropped += 1)
      await expect(invoke("echo", { key: "free" })).rejects.toThrow("other side closed");
    expect((await invoke("echo", { key: "free" })).status).toBe(200);
  });

  it("answers 429 with the wait that was asked for, as many times as were asked for", async () => {
    const { control, invoke } = await started();
    await control("/trouble", { body: { requests: 1, kind: "limit", seconds: 7 } });
    const { status, json } = await invoke("echo");
    expect([status, json]).toEqual([
      429,
      { error: expect.objectContaining({ retry_after: 7, code: "RATE_LIMIT_EXCEEDED" }) as unknown },
    ]);
    expect((await invoke("echo")).status).toBe(200);
  });

  it("handles a delayed request later, and the others meanwhile", async () => {
    const { control, invoke } = await started();
    await control("/trouble", { body: { requests: 1, kind: "delay", seconds: 0.3 } });
    const ended: string[] = [];
    const end = (name: string) => (): void => void ended.push(name);
    const delayed = invoke("echo").then(end("delayed"));
    await Promise.all([delayed, control("/agents").then(end("other"))]);
    expect(ended).toEqual(["other", "delayed"]);
  });

  it("issues keys with the traits that were asked for", async () => {
    const { control, invoke, call } = await started();
    const issue = async (body: object) => String(getPath((await control("/keys", { body })).json, "key"));
    const expired = await issue({ tier: "free", expires_in_seconds: 0 });
    expect((await call("/usage", { key: expired })).json).toMatchObject({ error: { code: "EXPIRED_API_KEY" } });
    expect((await invoke("echo", { key: await issue({ tier: "pro", scope: "read-only" }) })).status).toBe(403);
    const spent = await issue({ tier: "free", tokens_used: 100_000 });
    expect((await invoke("echo", { key: spent })).status).toBe(429);
  });

  it.each([
    ["/keys", { tier: "gold" }, "tier"],
    ["/keys", { tier: "free", agents: "echo" }, "agents"],
    ["/trouble", { requests: -1 }, "requests"],
    ["/trouble", { requests: 1, kind: "fire" }, "kind"],
    ["/trouble", { requests: 1, kind: "delay", seconds: 301 }, "seconds"],
  ])("refuses a wrong field: %s %j", async (path, body, field) => {
    const { control } = await started();
    const { status, json } = await control(path, { body });
    expect([status, getPath(json, "error", "message")]).toEqual([
      400,
      expect.stringContaining(`"${field}"`) as unknown,
    ]);
  });

  it("still answers at the older paths", async () => {
    const { call } = await started();
    const headers = { "X-Control-Token": token };
    const statuses = [
      await call("/v1/../clock/advance", { key: null, headers, body: { seconds: 1 } }),
      await call("/v1/../control/deployments", { key: null, headers, body: { agent_id: "echo", event: "updated" } }),
      await call("/v1/../control/keys", { key: null, headers }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200]);
  });
});

const example = fileURLToPath(new URL("../../examples/control/fastapi", import.meta.url));

async function responsesWith(controlToken: string): Promise<Readonly<Record<string, unknown>>> {
  return (await pythonJson("fastapi_control.py", example, controlToken)) as Readonly<Record<string, unknown>>;
}

describe.skipIf(withoutPython)("the FastAPI example of a test control", () => {
  it("answers as the contract says, and what it controls changes", async () => {
    const responses = await responsesWith("token-of-the-example");
    for (const call of ["get ", "get /agents", "post /keys", "post /trouble", "post /clock/advance"]) {
      const [status, body] = responses[call] as [number, unknown];
      const [method = "", path = ""] = call.split(" ");
      expect([call, status, breachesOf(method, `/test-control${path}`, body)]).toEqual([call, 200, null]);
    }
    expect(responses).toMatchObject({
      "get ": [200, { calls: ["clock", "trouble", "keys", "agents"] }],
      invokes: [
        [500, "INTERNAL_ERROR"],
        [200, null],
      ],
      limit: [200, { kind: "limit", seconds: 7 }],
      refused: { error: { status: 429, retry_after: 7 } },
      delayed: [200, null],
      drop: 400,
      expired: [401, "EXPIRED_API_KEY"],
      "absent call": 404,
      unsupported: 400,
      "wrong token": 401,
      "foreign host": 404,
    });
  });

  it("has no call at all without a token in its environment", async () => {
    const responses = await responsesWith("");
    for (const call of ["get ", "get /agents", "post /keys", "post /trouble", "post /clock/advance"])
      expect(responses[call]).toMatchObject([404, {}]);
  });
});
