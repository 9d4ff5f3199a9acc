import { expect, it, onTestFinished } from "vitest";

import { minuteMs } from "../../base/duration.ts";
import { createContext } from "../../run/run-context.ts";
import { openClient } from "../../run/send/client.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { startAnsweringServer } from "../../wire/testing/hostile.ts";
import { exchange } from "../testing/evidence.ts";
import { submitBatchBeyond } from "./beyond-quota.ts";
import { unpaced } from "./exhaust.ts";

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

interface Before {
  /** `X-RateLimit-Remaining` of the refusal. */
  readonly remaining: number;
  readonly sentInMinute?: number;
  readonly maxWaitMs?: number;
}

/** Submits a batch after a refused invoke. Waits take no time. Returns the waits of at least a minute, in ms. */
async function submitAfter({ remaining, sentInMinute = 0, maxWaitMs = 120_000 }: Before, baseUrl: string) {
  const key = aKey({ nearQuota: true, tier: "free" });
  const target = aTarget(baseUrl, { keys: { key }, paths: { batch: "/batch", operation: null, execute: null } });
  const waitsMs: number[] = [];
  const context = createContext({
    target,
    signal: new AbortController().signal,
    onHarnessLimit: () => {},
    maxWaitMs,
    onWait: (ms) => void waitsMs.push(ms),
    timers: { now: () => performance.now(), sleep: async () => {} },
  });
  onTestFinished(() => context.transport.close());
  const client = openClient(context, key);
  for (let sent = 0; sent < sentInMinute; sent++) await client.send("GET", "/usage", unpaced);
  const given = { "keys.nearQuota": key, "agents.answering": "echo" };
  const receiver = () => Promise.reject(new Error("no receiver"));
  const refusal = exchange({ status: 429, headers: [["X-RateLimit-Remaining", String(remaining)]] });
  const submitted = await submitBatchBeyond({ ...context, client, given, target, receiver }, refusal);
  return { isSubmitted: submitted !== undefined, minutesWaited: waitsMs.filter((ms) => ms >= minuteMs).length };
}

const requestsOfSlowBatch = [
  "GET /usage",
  "POST /batch",
  ...Array.from({ length: 4 }, () => "GET /operations/op_1"),
  "GET /usage",
  "POST /agents/echo/invoke",
];

it.each<[name: string, before: Before, minutesWaited: number, expected: readonly string[]]>([
  ["sends a slow batch if just enough requests are left", { remaining: 8 }, 0, requestsOfSlowBatch],
  ["waits a minute if one too few is left", { remaining: 7 }, 1, requestsOfSlowBatch],
  ["waits a minute if the headers are of the hour", { remaining: 70, sentInMinute: 3 }, 1, requestsOfSlowBatch],
  ["sends no batch if it may not wait", { remaining: 7, maxWaitMs: 0 }, 0, []],
  ["counts the minute's requests if it may not wait", { remaining: 70, sentInMinute: 3, maxWaitMs: 0 }, 0, []],
])("without a test clock, a run %s", async (_, before, minutesWaited, expected) => {
  const { baseUrl, requests } = await startSlowBatches();
  expect(await submitAfter(before, baseUrl)).toEqual({ isSubmitted: expected.length > 0, minutesWaited });
  expect(requests.slice(before.sentInMinute)).toEqual(expected);
});
