import { expect, it, onTestFinished } from "vitest";

import { createContext } from "../../run/run-context.ts";
import { openClient } from "../../run/send/client.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { startAnsweringServer } from "../../wire/testing/hostile.ts";
import { exchange } from "../testing/evidence.ts";
import { submitBatchBeyond } from "./beyond-quota.ts";

/** Starts a server whose batches never end, and that refuses each invoke for the month's tokens. */
async function startSlowBatches() {
  const requests: string[] = [];
  const { baseUrl, close } = await startAnsweringServer(({ method, url = "" }, response) => {
    requests.push(`${method} ${url.replace("/v1", "")}`);
    response.statusCode = url.endsWith("/invoke") ? 429 : 200;
    response.end(JSON.stringify({ operation_id: "op_1", status: "pending", check_url: "/v1/operations/op_1" }));
  });
  onTestFinished(close);
  return { baseUrl, requests };
}

/** Submits a batch after a refusal that reports `remaining` requests. Waits take no time. */
async function submitWith(remaining: number, baseUrl: string) {
  const key = aKey({ nearQuota: true });
  const target = aTarget(baseUrl, { keys: { key }, paths: { batch: "/batch", operation: null, execute: null } });
  const context = createContext({
    target,
    signal: new AbortController().signal,
    onHarnessLimit: () => {},
    timers: { now: () => performance.now(), sleep: async () => {} },
  });
  onTestFinished(() => context.transport.close());
  const given = { "keys.nearQuota": key, "agents.answering": "echo" };
  const receiver = () => Promise.reject(new Error("no receiver"));
  const refusal = exchange({ status: 429, headers: [["X-RateLimit-Remaining", String(remaining)]] });
  return submitBatchBeyond({ ...context, client: openClient(context, key), given, target, receiver }, refusal);
}

const requestsOfSlowBatch = [
  "GET /usage",
  "POST /batch",
  ...Array.from({ length: 4 }, () => "GET /operations/op_1"),
  "GET /usage",
  "POST /agents/echo/invoke",
];

it.each([
  ["one request too few for a slow batch", 7, []],
  ["just enough requests for a slow batch", 8, requestsOfSlowBatch],
])("without a test clock, a key with %s left sends no more than that", async (_, remaining, expected) => {
  const { baseUrl, requests } = await startSlowBatches();
  expect((await submitWith(remaining, baseUrl)) === undefined).toBe(expected.length === 0);
  expect(requests).toEqual(expected);
});
