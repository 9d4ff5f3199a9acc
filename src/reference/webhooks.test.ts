import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { setField } from "./json-edit.ts";
import { findPatch } from "./catalogue.ts";
import { eventually, testServer, type TestServer } from "./testing/test-server.ts";
import { testReceiver, type TestReceiver } from "./webhooks/testing/outbox-fixture.ts";

let receiver: TestReceiver;
let server: TestServer;

beforeEach(async () => {
  receiver = await testReceiver(
    () => 0,
    (path) => (path.startsWith("/fail") ? 500 : 204),
  );
  server = await testServer();
});
afterEach(async () => {
  await server.close();
  await receiver.close();
});

const bodyOf = (fields: object = {}) => ({ url: `${receiver.origin}/hook`, events: ["agent.*"], ...fields });
const create = (fields: object = {}, key = "pro") => server.call("/webhooks", { key, body: bodyOf(fields) });
const arrived = (count: number) =>
  eventually(() => new Promise((resolve) => setImmediate(() => resolve(receiver.received.length >= count))));
const typesOf = () => receiver.received.map(({ json }) => String(json["type"])).toSorted();
const deploy = (body: object) => server.call("/v1/../control/deployments", { body });

async function idOf(fields: object = {}): Promise<string> {
  const { json } = await create(fields);
  return String((json as { webhook_id: unknown }).webhook_id);
}

describe("creating a webhook", () => {
  it("responds with the stored fields, but not with the secret", async () => {
    const { status, json, text } = await create({ agent_id: "echo", secret: "between-us" });
    expect(status).toBe(201);
    expect(json).toEqual({
      webhook_id: "wh_000001",
      url: `${receiver.origin}/hook`,
      events: ["agent.*"],
      agent_id: "echo",
      status: "active",
      created_at: "2026-03-04T05:06:07Z",
    });
    expect(text).not.toContain("between-us");
  });

  it.each([
    ["no url", { url: undefined }, 400, "MISSING_REQUIRED_FIELD"],
    ["a url that is a number", { url: 5 }, 400, "INVALID_INPUT"],
    ["a url that is none", { url: "nowhere" }, 400, "INVALID_INPUT"],
    ["an address of a private network", { url: "http://10.0.0.1/hook" }, 400, "INVALID_INPUT"],
    ["the address of a cloud's metadata", { url: "http://169.254.169.254/" }, 400, "INVALID_INPUT"],
    ["another scheme", { url: "ftp://example.com/" }, 400, "INVALID_INPUT"],
    ["no events", { events: undefined }, 400, "MISSING_REQUIRED_FIELD"],
    ["events that are a text", { events: "agent.*" }, 400, "INVALID_INPUT"],
    ["an empty list of events", { events: [] }, 400, "INVALID_INPUT"],
    ["an unknown event type", { events: ["agent.slept"] }, 400, "INVALID_INPUT"],
    ["a secret that is empty", { secret: "" }, 400, "INVALID_INPUT"],
    ["an unknown agent", { agent_id: "nobody" }, 404, "AGENT_NOT_FOUND"],
  ])("refuses %s", async (_what, fields, status, code) => {
    expect(await create(fields)).toMatchObject({ status, json: { error: { code } } });
  });

  it.each([
    ["all agents", {}, 403],
    ["another agent", { agent_id: "crasher" }, 403],
    ["its own agent", { agent_id: "echo" }, 201],
  ])("with a key of one agent for %s", async (_what, fields, status) => {
    expect((await create(fields, "oneAgent")).status).toBe(status);
  });
});

describe("an execution", () => {
  it("that completes sends signed events at its start and its end", async () => {
    await create({ secret: "between-us" });
    await server.invoke("echo");
    await arrived(2);
    expect(typesOf()).toEqual(["agent.completed", "agent.invoked"]);
    const completed = receiver.received.find(({ json }) => json["type"] === "agent.completed");
    expect(completed?.headers["x-service-signature"]).toMatch(/^[0-9a-f]{64}$/);
    expect(completed?.json).toMatchObject({
      created: "2026-03-04T05:06:07.000Z",
      agent_id: "echo",
      deployment_id: "dep_echo",
      data: {
        request_id: expect.any(String) as unknown,
        input: { query: "hello" },
        result: { output: "You said: hello" },
        execution_time: 0,
        tokens_used: 4,
      },
    });
  });

  it("that fails sends an event with the reason", async () => {
    await create({ events: ["agent.failed"] });
    await server.invoke("crasher");
    await arrived(1);
    expect(receiver.received[0]?.json["data"]).toEqual({
      request_id: expect.any(String) as unknown,
      input: { query: "hello" },
      error: {
        code: "EXECUTION_ERROR",
        message: expect.any(String) as unknown,
        details: expect.any(String) as unknown,
      },
    });
  });

  it("that times out sends an event", async () => {
    await create({ events: ["agent.timeout"] });
    const answer = server.invoke("stuck");
    await eventually(async () => {
      await server.reference.advance(30_000);
      return receiver.received.length > 0;
    });
    await answer;
    expect(receiver.received[0]?.json["data"]).toMatchObject({ timeout: 30 });
  });

  it("that streams sends the same events", async () => {
    await create();
    await (await server.stream("echo")).until("event: done");
    await arrived(2);
    expect(typesOf()).toEqual(["agent.completed", "agent.invoked"]);
  });

  it("of another agent sends no event", async () => {
    await create({ agent_id: "elder" });
    await server.invoke("echo");
    await server.invoke("elder");
    await arrived(2);
    expect(receiver.received.map(({ json }) => json["agent_id"])).toEqual(["elder", "elder"]);
  });

  it("loses no event among many concurrent ones", async () => {
    await create({}, "enterprise");
    await Promise.all(Array.from({ length: 20 }, () => server.invoke("echo", { key: "enterprise" })));
    await arrived(40);
    expect(new Set(receiver.received.map(({ json }) => json["id"])).size).toBe(40);
  });
});

describe("a deployment", () => {
  it("changes, and each change sends an event", async () => {
    await create({ events: ["deployment.*"] });
    expect(await deploy({ agent_id: "novice", event: "created" })).toMatchObject({ status: 200 });
    expect(await server.invoke("novice")).toMatchObject({ status: 200 });
    expect(await deploy({ agent_id: "novice", event: "updated" })).toMatchObject({ json: { version: "1.0.1" } });
    await deploy({ agent_id: "novice", event: "health_changed", status: "degraded" });
    expect(await server.call("/agents/novice/health")).toMatchObject({
      json: { status: "degraded", version: "1.0.1" },
    });
    await deploy({ agent_id: "novice", event: "deleted" });
    expect(await server.invoke("novice")).toMatchObject({ status: 404 });
    await arrived(4);
    expect(typesOf()).toEqual([
      "deployment.created",
      "deployment.deleted",
      "deployment.health_changed",
      "deployment.updated",
    ]);
  });

  it.each([
    [{ event: "created" }, 400],
    [{ agent_id: "echo", event: "moved" }, 400],
    [{ agent_id: "echo", event: "health_changed", status: "well" }, 400],
    [{ agent_id: "nobody", event: "deleted" }, 404],
  ])("is not changed by %j", async (body, status) => {
    expect((await deploy(body)).status).toBe(status);
  });
});

describe("deliveries and metrics", () => {
  it("show every attempt of the schedule and the final state", async () => {
    const id = await idOf({ url: `${receiver.origin}/fail`, events: ["agent.completed"] });
    await server.invoke("echo");
    await server.reference.advance(3 * 3_600_000);
    const { json } = await server.call(`/webhooks/${id}/deliveries`);
    expect(json).toMatchObject({ data: [{ type: "agent.completed", status: "failed", next_attempt_at: null }] });
    const [delivery] = (
      json as { data: readonly { attempts: readonly { attempted_at: string; status_code: number }[] }[] }
    ).data;
    expect(delivery?.attempts.map((attempt) => [attempt.attempted_at.slice(11, 19), attempt.status_code])).toEqual([
      ["05:06:07", 500],
      ["05:07:07", 500],
      ["05:12:07", 500],
      ["05:42:07", 500],
      ["07:42:07", 500],
    ]);
    expect(await server.call(`/webhooks/${id}/metrics`)).toMatchObject({
      json: {
        webhook_id: id,
        total_deliveries: 1,
        successful: 0,
        failed: 1,
        average_response_time: 0,
        last_delivery: "2026-03-04T07:42:07Z",
      },
    });
  });

  it.each(["deliveries", "metrics"])("%s are not shown to another key", async (what) => {
    const path = `/webhooks/${await idOf()}/${what}`;
    expect((await server.call(path)).status).toBe(200);
    expect(await server.call(path, { key: "free" })).toMatchObject({
      status: 404,
      json: { error: { code: "WEBHOOK_NOT_FOUND" } },
    });
  });
});

describe("a usage alert", () => {
  const alert = (fields: object = {}) => ({
    key: "free",
    body: { type: "rate_limit", threshold: 3, webhook_url: `${receiver.origin}/alert`, ...fields },
  });
  const spend = async (count: number) => {
    for (let sent = 0; sent < count; sent += 1) await server.call("/usage", { key: "free" });
  };

  it("fires each time its threshold is reached from below", async () => {
    expect(await server.call("/alerts", alert())).toMatchObject({ status: 201, json: { alert_id: "alert_000001" } });
    await spend(1);
    expect(receiver.received).toEqual([]);
    await spend(4);
    await arrived(1);
    expect(receiver.received.map(({ json }) => json)).toEqual([
      {
        id: "alert_000001",
        type: "rate_limit",
        threshold: 3,
        used: 3,
        limit: 100,
        remaining: 97,
        created: "2026-03-04T05:06:07Z",
      },
    ]);
    await server.reference.advance(3_600_000);
    await spend(5);
    await arrived(2);
    expect(receiver.received).toHaveLength(2);
  });

  it.each([
    ["a threshold above 100", { threshold: 101 }],
    ["a threshold below 0", { threshold: -1 }],
    ["a threshold that is a text", { threshold: "80" }],
    ["another type", { type: "tokens" }],
    ["a private address", { webhook_url: "http://192.168.0.1/" }],
  ])("is refused with %s", async (_what, fields) => {
    expect((await server.call("/alerts", alert(fields))).status).toBe(400);
  });
});

describe("the patches of webhooks", () => {
  it("edit the body that the server has made", async () => {
    const patch = findPatch("variant", "event-deployment-always-null");
    const event = {
      id: "evt",
      type: "agent.invoked",
      createdMs: 0,
      agentId: "echo",
      deploymentId: "dep",
      data: {},
    } as const;
    const plain = { id: "evt", deployment_id: "dep" };
    const base = { eventBody: () => plain } as never;
    expect(patch?.override(base).eventBody?.(event)).toEqual(setField(plain, "deployment_id", null));
  });
});
