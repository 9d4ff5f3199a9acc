import { judge, type ReferenceServer, startServer } from "agent-hosting-conformance";
import { afterEach, beforeEach, expect, test } from "vitest";

import { ask, RateLimited } from "../src/client.ts";

let server: ReferenceServer;

beforeEach(async () => {
  server = await startServer({ clock: "virtual" });
});

afterEach(() => server.stop());

test("an answer comes through", async () => {
  await expect(ask(server.baseUrl, server.keys.pro, server.agents.answering, "hello")).resolves.toBeDefined();
});

test("a used-up allowance says when to come again, and then there is room", async () => {
  const { key } = server.issueKey("free");
  const once = () => ask(server.baseUrl, key, server.agents.answering, "hello");
  for (let count = 0; count < 10; count += 1) await once();
  const refusal = await once().catch((error: unknown) => error);
  if (!(refusal instanceof RateLimited)) throw new Error("there was no refusal");
  await server.advance(refusal.retryAfterSeconds * 1000);
  await expect(once()).resolves.toBeDefined();
});

test("the reference server is conformant, and a fault of it is found", async () => {
  const options = { only: ["INV-2"] };
  expect((await judge(server, options)).report.totals).toMatchObject({ pass: 1, fail: 0 });
  const { verdict } = await judge({ embedded: true, faults: ["result-is-text"] }, options);
  expect(verdict).toBe("nonconformant");
});
