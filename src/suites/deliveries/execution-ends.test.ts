import { describe, expect, it } from "vitest";

import { suite } from "../../run/judge/check.ts";
import { delivery, event, exchange, streamed } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { executionEndChecks } from "./execution-ends.ts";
import { failingStreamHook } from "./probes.ts";

const deliveries = suite("Webhook deliveries", executionEndChecks);

const told = (type: string, query: string, hook = "webhook-slow-agent") =>
  delivery({ hook, event: { type, data: { input: { query } } } });

const stream = (query: string, last: "done" | "error") =>
  streamed([event("start", {}), event(last, {})], { path: "/agents/slow/stream", sent: { query } });

const all = (...arrived: readonly ReturnType<typeof delivery>[]) => ({ deliveries: arrived, unkept: {} });
const begun = { byWildcard: [told("agent.invoked", "other")] };
const slow = { invoked: exchange({ sent: { query: "one" } }), streamed: stream("two", "done") };

describe("a stream with `done` of an agent that has a webhook", () => {
  it.each<[string, object, string]>([
    ["is reported", { slow, timedOut: begun, all: all(told("agent.completed", "two")) }, "holds"],
    ["is not, as invokes are", { slow, timedOut: begun, all: all(told("agent.completed", "one")) }, "breach"],
    ["is not, and no stream is", { slow, timedOut: null, all: all(told("agent.completed", "one")) }, "inapplicable"],
    ["is not, and no invoke is", { slow, timedOut: begun, all: all() }, "inapplicable"],
    [
      "did not end",
      { slow: { ...slow, streamed: stream("two", "error") }, timedOut: begun, all: all() },
      "inapplicable",
    ],
  ])("%s", (_, evidence, expected) => {
    expect(judged(deliveries, "HOOK-8/stream", evidence)).toBe(expected);
  });
});

describe("a stream with `error` of an agent that has a webhook", () => {
  const created = exchange({
    path: "/webhooks",
    status: 201,
    sent: { url: `http://127.0.0.1:1/t/${failingStreamHook}`, agent_id: "slow" },
  });
  const failed = { ...stream("three", "error"), sentMs: 5000 };
  const evidence = (arrived: ReturnType<typeof all>, timedOut: object | null = begun) => ({
    slow,
    timedOut,
    failing: {},
    exchanges: { exchanges: [created, failed] },
    all: arrived,
  });

  it.each<[string, object, string]>([
    ["is reported", evidence(all(told("agent.failed", "three", failingStreamHook))), "holds"],
    ["is not", evidence(all()), "breach"],
    ["is not, but an invoke is", evidence(all(told("agent.failed", "four", failingStreamHook))), "breach"],
    ["is not, and no stream is", evidence(all(), null), "inapplicable"],
    ["was not sent", { ...evidence(all()), exchanges: { exchanges: [created] } }, "inapplicable"],
  ])("%s", (_, given, expected) => {
    expect(judged(deliveries, "HOOK-9/stream", given)).toBe(expected);
  });
});

describe("a batch of an agent that has webhooks", () => {
  const usage = (used: number) => exchange({ method: "GET", json: { tokens: { used } } });
  const submitted = exchange({ path: "/agents/slow/batch", status: 201, sent: { batch: [{ query: "five" }] } });
  const batch = { before: usage(1), submitted, after: usage(9), completed: [] };
  const start = told("agent.invoked", "five");

  it.each<[string, object, string]>([
    ["is reported", { batch, all: all(start, told("agent.completed", "five")) }, "holds"],
    ["is reported to have begun", { batch, all: all(start) }, "breach"],
    ["has not run", { batch: { ...batch, after: usage(1) }, all: all(start) }, "unproven"],
    ["is not reported at all", { batch, all: all() }, "inapplicable"],
    ["was not sent", { batch: null, all: all() }, "inapplicable"],
  ])("%s", (_, evidence, expected) => {
    expect(judged(deliveries, "HOOK-8/batch", evidence)).toBe(expected);
  });
});
