import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TierName } from "../spec/tiers.ts";
import { eventually, testServer, type TestServer } from "./testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

const fresh = (tier: TierName = "free") => server.reference.issueKey(tier).name;

async function statuses(key: string, count: number): Promise<readonly number[]> {
  const received: number[] = [];
  for (let at = 0; at < count; at += 1) received.push((await server.invoke("echo", { key })).status);
  return received;
}

const admittedOf = (received: readonly number[]) => received.filter((status) => status === 200).length;

describe("the limits of a key", () => {
  it.each([
    ["free", 10],
    ["pro", 100],
    ["team", 500],
    ["enterprise", 400],
  ] as const)("%s: %i a minute and no more", async (tier, perMinute) => {
    expect(admittedOf(await statuses(fresh(tier), perMinute + 5))).toBe(perMinute);
  });

  it("admit again after `retry_after`, and not a second earlier", async () => {
    const key = fresh();
    await statuses(key, 10);
    const { json } = await server.invoke("echo", { key });
    const retryAfter = (json as { error: { retry_after: number } }).error.retry_after;
    await server.reference.advance((retryAfter - 1) * 1000);
    expect(await statuses(key, 1)).toEqual([429]);
    await server.reference.advance(1000);
    expect(admittedOf(await statuses(key, 20))).toBe(10);
  });

  it("also limit the hour", async () => {
    // This test has its own server, since the clock of the shared server may be close to the end of an hour.
    const alone = await testServer();
    let admitted = 0;
    for (let minute = 0; minute < 14; minute += 1) {
      for (let at = 0; at < 11; at += 1)
        if ((await alone.invoke("echo", { key: "free" })).status === 200) admitted += 1;
      await alone.reference.advance(60_000);
    }
    const { json } = await alone.invoke("echo", { key: "free" });
    await alone.close();
    expect(admitted).toBe(100);
    expect(json).toMatchObject({ error: { code: "RATE_LIMIT_EXCEEDED" } });
  });

  it("report each value of `Remaining` once to concurrent requests", async () => {
    const key = fresh("pro");
    const answers = await Promise.all(Array.from({ length: 10 }, () => server.invoke("echo", { key })));
    const remaining = answers.map(({ headers }) => Number(headers["x-ratelimit-remaining"]));
    expect(remaining.toSorted((a, b) => b - a)).toEqual([99, 98, 97, 96, 95, 94, 93, 92, 91, 90]);
  });

  it("neither count nor refuse health requests", async () => {
    const key = fresh();
    await statuses(key, 10);
    for (let at = 0; at < 20; at += 1) {
      const { status, headers } = await server.call("/agents/echo/health", { key });
      expect([status, headers["x-ratelimit-remaining"]]).toEqual([200, "0"]);
    }
  });

  it("do not count wrong keys that resemble the key", async () => {
    const { name, key } = server.reference.issueKey("free");
    for (let at = 0; at < 20; at += 1) await server.invoke("echo", { key: `${key}x` });
    expect(admittedOf(await statuses(name, 20))).toBe(10);
  });

  it("count errors, but not refusals", async () => {
    const key = fresh();
    await server.invoke("nobody", { key });
    await server.invoke("echo", { key, body: "{" });
    await server.invoke("crasher", { key });
    expect(admittedOf(await statuses(key, 20))).toBe(7);
  });

  it("are the same for all spellings of the header", async () => {
    const { name, key } = server.reference.issueKey("free");
    await server.invoke("echo", { key: null, headers: { authorization: `bearer   ${key}` } });
    expect(admittedOf(await statuses(name, 20))).toBe(9);
  });

  it("do not count refusals for concurrency", async () => {
    const key = fresh();
    let answered = 0;
    const responses = Array.from({ length: 8 }, async () => {
      const { status } = await server.invoke("sleeper", { key });
      answered += 1;
      return status;
    });
    await eventually(async () => (await server.call("/agents/echo/health")).status === 200 && answered === 6);
    await server.reference.advance(2000);
    expect((await Promise.all(responses)).toSorted((a, b) => a - b)).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
    expect(admittedOf(await statuses(key, 20))).toBe(8);
  });
});

describe("the month's tokens", () => {
  it("refuse executions after they are used up, until the next month", async () => {
    const received = await statuses("quota", 8);
    expect(received).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    const { status, json } = await server.call("/usage", { key: "quota" });
    expect([status, json]).toMatchObject([200, { tokens: { used: 100_000, remaining: 0 } }]);
    const month = await testServer();
    await month.reference.advance(28 * 86_400_000);
    expect((await month.invoke("echo", { key: "quota" })).status).toBe(200);
    expect((await month.call("/usage", { key: "quota" })).json).toMatchObject({ tokens: { used: 4 } });
    await month.close();
  });
});

describe("requests without a valid key", () => {
  it("share a limit of their address", async () => {
    const alone = await testServer();
    const countByStatus = new Map<number, number>();
    const asks = Array.from({ length: 1010 }, () => alone.call("/usage", { key: "ah_wrong" }));
    for (const { status } of await Promise.all(asks)) countByStatus.set(status, (countByStatus.get(status) ?? 0) + 1);
    expect(Object.fromEntries(countByStatus)).toEqual({ 401: 1000, 429: 10 });
    expect((await alone.call("/usage", { key: null })).json).toMatchObject({ error: { code: "RATE_LIMITED" } });
    expect((await alone.call("/usage", { key: "free" })).status).toBe(200);
    await alone.close();
  });
});
