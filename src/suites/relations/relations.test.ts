import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { delivery, event, exchange, type ExchangeOptions, streamed } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { relations } from "../all.ts";

const kindOf = (id: string, evidence: unknown): string =>
  judgeBy({ title: "Relations", checks: relations }, id, evidence).kind;

const run = (...exchanges: readonly Exchange[]) => ({ exchanges, validKeys: ["main"] });

const mark = "2f9c7a10-1b2c-4d3e-8f40-5a6b7c8d9e0f";
const query = `Hello. ${mark}`;
const response = {
  result: { output: "Hello to you." },
  usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
  metadata: { execution_time: 0.01, request_id: "r1" },
};
const reported = { request_id: "r1", input: { query }, result: response.result, execution_time: 0.01, tokens_used: 5 };

const invoked = (json: unknown = response, made: ExchangeOptions = {}): Exchange =>
  exchange({ sent: { query }, json, ...made });
const completed = (data: object = {}): Delivery => delivery({ event: { data: { ...reported, ...data } } });
const failed = (data: object = {}): Delivery =>
  delivery({
    event: {
      type: "agent.failed",
      data: { request_id: "r1", input: { query }, error: { code: "EXECUTION_ERROR" }, ...data },
    },
  });

const withDeliveries = (exchanges: readonly Exchange[], ...deliveries: readonly Delivery[]) => ({
  all: run(...exchanges),
  arrived: { deliveries, untilMs: 9000, clockMs: 0, canMove: false, unkept: {} },
});

const plain = (json: object): Exchange => invoked({ ...response, ...json });

describe("a delivery and the response to its request", () => {
  it.each<readonly [string, string, Exchange, Delivery, string]>([
    ["HOOK-42/request_id", "the same id", invoked(), completed(), "holds"],
    ["HOOK-42/request_id", "another id", invoked(), completed({ request_id: "r2" }), "breach"],
    ["HOOK-42/request_id", "no id in the response", plain({ metadata: {} }), completed(), "inapplicable"],
    [
      "HOOK-42/request_id",
      "a delivery of another request",
      invoked(),
      completed({ request_id: "r2", input: {} }),
      "unproven",
    ],
    [
      "HOOK-42/request_id",
      "a delivery that names another query",
      invoked(),
      completed({ input: { query: "Bye." } }),
      "unproven",
    ],
    ["HOOK-42/result", "the same result", invoked(), completed(), "holds"],
    ["HOOK-42/result", "more fields", invoked(), completed({ result: { output: "Hello to you.", turn: 1 } }), "holds"],
    [
      "HOOK-42/result",
      "no field in common",
      invoked(),
      completed({ result: { text: "Hello to you." } }),
      "inapplicable",
    ],
    ["HOOK-42/result", "another text", invoked(), completed({ result: { output: "Bye." } }), "breach"],
    ["HOOK-42/tokens", "the same tokens", invoked(), completed(), "holds"],
    ["HOOK-42/tokens", "other tokens", invoked(), completed({ tokens_used: 3 }), "breach"],
    [
      "HOOK-42/tokens",
      "no usage in the response",
      plain({ usage: undefined }),
      completed({ tokens_used: 3 }),
      "inapplicable",
    ],
    [
      "HOOK-42/execution_time",
      "seconds",
      invoked(response, { endMs: 3000 }),
      completed({ execution_time: 1.9 }),
      "holds",
    ],
    [
      "HOOK-42/execution_time",
      "milliseconds",
      invoked(response, { endMs: 3000 }),
      completed({ execution_time: 1900 }),
      "breach",
    ],
    ["HOOK-43/as the response", "completed, as it says", invoked(), completed(), "holds"],
    ["HOOK-43/as the response", "failed, against a result", invoked(), failed(), "breach"],
    [
      "HOOK-43/as the response",
      "completed after a gateway's 504",
      invoked({}, { status: 504 }),
      completed(),
      "inapplicable",
    ],
  ])("%s: %s", (id, _, sent, arrived, expected) => {
    const evidence = withDeliveries([sent, exchange({ path: "/usage", method: "GET", sentMs: 5000 })], arrived);
    expect(kindOf(id, evidence)).toBe(expected);
  });

  it.each([
    ["done", "holds"],
    ["error", "breach"],
  ])("a completed stream that ends with %s: %s", (end, expected) => {
    const stream = streamed([event("start", {}), event(end, { usage: { total_tokens: 5 } })], { sent: { query } });
    expect(kindOf("HOOK-43/as the response", withDeliveries([stream], completed()))).toBe(expected);
  });

  const lasting = (ms: number, done: object = {}): Exchange =>
    streamed([event("start", {}), event("done", done)], { sent: { query }, endMs: 1000 + ms });

  it.each<readonly [string, Exchange, number, string]>([
    ["in seconds", lasting(2000), 1.9, "holds"],
    ["in seconds, of a slow server", lasting(10), 1.9, "holds"],
    ["in milliseconds", lasting(2000), 1900, "breach"],
    ["far beyond that of `done`", lasting(500, { execution_time: 0.012 }), 6, "breach"],
    ["rounded, unlike that of `done`", lasting(500, { execution_time: 0.004 }), 1, "holds"],
    ["as in `done`, of an execution that is shown again", lasting(20, { execution_time: 7 }), 7, "holds"],
    ["against a `done` that was rounded to zero", lasting(500, { execution_time: 0 }), 1.6, "holds"],
  ])("a stream's duration %s", (_, stream, seconds, expected) => {
    const later = exchange({ path: "/usage", method: "GET", sentMs: 50_000 });
    const arrived = completed({ execution_time: seconds });
    expect(kindOf("HOOK-42/execution_time", withDeliveries([stream, later], arrived))).toBe(expected);
  });

  it("is not matched by ids that several responses have", () => {
    const other = exchange({ sent: { query: "Hello." }, json: response });
    const about = completed({ input: undefined, tokens_used: 7 });
    expect(kindOf("HOOK-42/tokens", withDeliveries([invoked(), other], about))).toBe("unproven");
  });
});

describe("the deliveries of one execution", () => {
  it.each<readonly [string, string, readonly Delivery[]]>([
    ["completed and failed", "breach", [completed(), failed()]],
    ["completed to two webhooks", "holds", [completed(), completed()]],
    ["completed, and another agent's failure", "unproven", [completed(), failed({ input: { query: "Bye." } })]],
  ])("%s: %s", (_, expected, deliveries) => {
    expect(kindOf("HOOK-43/one end", withDeliveries([invoked()], ...deliveries))).toBe(expected);
  });
});

const timeoutOf = (data: object = {}, envelope: object = {}): Delivery =>
  delivery({ event: { type: "agent.timeout", data: { request_id: "r1", ...data }, ...envelope } });
const timeoutAt = (created: unknown): Delivery => timeoutOf({}, { created });

describe("an execution that timed out", () => {
  const crash = { status: 500, json: {} };
  it.each<readonly [string, ExchangeOptions, readonly Delivery[], string]>([
    ["and did nothing else", crash, [timeoutOf()], "holds"],
    ["and completed", crash, [timeoutOf(), completed()], "breach"],
    ["and completed, by its query", crash, [timeoutOf({ request_id: undefined }), completed()], "breach"],
    ["and completed, by its id", crash, [timeoutOf(), completed({ input: {} })], "breach"],
    ["after a gateway had sent it twice", crash, [timeoutOf(), completed({ request_id: "r2" })], "holds"],
    ["before its agent ended nonetheless", crash, [timeoutAt("2026-03-04T05:06:06.9Z"), completed()], "holds"],
    ["after it had completed", crash, [timeoutAt("2026-03-04T05:06:08Z"), completed()], "breach"],
    ["at an unknown time", crash, [timeoutAt(undefined), completed()], "unproven"],
    [
      "while an agent with the same query completed",
      crash,
      [timeoutOf({}, { agent_id: "bard" }), completed()],
      "holds",
    ],
    ["while another completed", crash, [timeoutOf(), completed({ input: { query: "Bye." } })], "holds"],
    ["for a gateway alone", { status: 504, json: {} }, [timeoutOf(), completed()], "inapplicable"],
    ["without an event", crash, [completed()], "unproven"],
  ])("%s", (_, made, deliveries, expected) => {
    const ended = { invoked: invoked({}, made), deliveries };
    expect(kindOf("HOOK-43/timed out", { ended, arrived: { deliveries } })).toBe(expected);
  });
});

const limited = (completion: number, made: ExchangeOptions = {}): Exchange =>
  invoked(
    { ...response, usage: { completion_tokens: completion } },
    { sent: { query, parameters: { max_tokens: 9 } }, ...made },
  );
const stream = (usage: object): Exchange =>
  streamed([event("start", {}), event("done", { usage })], { sent: { query, parameters: { max_tokens: 9 } } });

describe("responses of invokes and streams", () => {
  it.each<readonly [string, string, Exchange, string]>([
    ["INV-15/every invoke and stream", "an invoke within `max_tokens`", limited(9), "holds"],
    ["INV-15/every invoke and stream", "an invoke beyond `max_tokens`", limited(10), "breach"],
    ["INV-15/every invoke and stream", "a stream beyond `max_tokens`", stream({ completion_tokens: 10 }), "breach"],
    ["INV-15/every invoke and stream", "a stream without a count", stream({ total_tokens: 50 }), "unproven"],
    ["INV-7/streams", "a sum", stream({ prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 }), "holds"],
    ["INV-7/streams", "no sum", stream({ prompt_tokens: 2, completion_tokens: 3, total_tokens: 6 }), "breach"],
  ])("%s: %s", (id, _, sent, expected) => {
    expect(kindOf(id, { all: run(sent) })).toBe(expected);
  });

  it.each<readonly [string, ExchangeOptions, string]>([
    ["a result", {}, "holds"],
    ["the `status` of an error", { json: { ...response, status: "error" } }, "breach"],
    ["an error with a code", { json: { ...response, error: { code: "ODD" } } }, "breach"],
    ["an `error` that is null", { json: { ...response, error: null } }, "holds"],
    ["an operation that failed", { path: "/operations/op-1", method: "GET", json: { status: "error" } }, "unproven"],
    ["an error status", { status: 400, json: { status: "error", error: { code: "ODD" } } }, "unproven"],
  ])("a success with %s", (_, made, expected) => {
    expect(kindOf("ERR-18", run(invoked(response, made)))).toBe(expected);
  });
});

const report = (status: string): Exchange =>
  exchange({ method: "GET", path: "/agents/worn/health", json: { status, checks: {} } });
const crashed = exchange({ status: 500 });

describe("a degraded agent", () => {
  it.each<readonly [string, Exchange, readonly Exchange[], string]>([
    ["answers", report("degraded"), [invoked()], "holds"],
    ["answers the second time", report("degraded"), [crashed, invoked()], "holds"],
    ["fails twice", report("degraded"), [crashed, crashed], "breach"],
    ["fails twice, and was healthy before", report("healthy"), [crashed, crashed], "unproven"],
    ["is limited", report("degraded"), [exchange({ status: 429 }), crashed], "unproven"],
  ])("that %s", (_, before, sent, expected) => {
    expect(kindOf("HLT-11/answers", { before, invoked: sent, after: report("degraded") })).toBe(expected);
  });
});

const responding = (text: string): Exchange => invoked({ result: { output: text } });
const sessions = (control: string, first: string, third: string) => ({
  control: { word: "word-1", response: responding(control) },
  first: { texts: ["word-1", "mark-1"], opening: responding("ok"), response: responding(first) },
  third: { texts: ["word-3"], opening: responding("ok"), response: responding(third) },
});

describe("several sessions at once", () => {
  it.each([
    ["are remembered", sessions("word-1", "mark-1", "word-3"), "holds"],
    ["replace the first", sessions("word-1", "nothing", "word-3"), "breach"],
    ["leave no room for the third", sessions("word-1", "word-1", "nothing"), "breach"],
    ["say nothing of an agent that repeats nothing", sessions("nothing", "nothing", "nothing"), "unproven"],
    ["are not tried with a key of few requests", null, "inapplicable"],
  ])("%s", (_, evidence, expected) => {
    expect(kindOf("INV-18/several sessions", evidence)).toBe(expected);
  });
});

const page = (number: number, ids: readonly string[], total = 5): Exchange =>
  exchange({
    method: "GET",
    path: `/agents?page=${number}&limit=2`,
    json: { data: ids.map((id) => ({ agent_id: id })), pagination: { page: number, limit: 2, total, pages: 3 } },
  });

describe("the pages of a list", () => {
  it.each([
    ["LST-7/every page", "no agent twice", [page(1, ["a", "b"]), page(2, ["c", "d"]), page(3, ["e"])], "holds"],
    ["LST-7/every page", "page 3 repeats page 1", [page(1, ["a", "b"]), page(2, ["c", "d"]), page(3, ["a"])], "breach"],
    ["LST-7/every page", "another total", [page(1, ["a", "b"]), page(2, ["a", "b"], 4)], "unproven"],
    ["LST-11/all pages", "as many as `total`", [page(1, ["a", "b"]), page(2, ["c", "d"]), page(3, ["e"])], "holds"],
    ["LST-11/all pages", "one too few", [page(1, ["a", "b"]), page(2, ["c", "d"]), page(3, [])], "breach"],
    ["LST-11/all pages", "not all pages", [page(1, ["a", "b"]), page(2, ["c", "d"])], "unproven"],
    ["LST-11/all pages", "nothing", [], "unproven"],
  ])("%s: %s", (id, _, pages, expected) => {
    expect(kindOf(id, pages)).toBe(expected);
  });
});

const usage = (used: number, sentMs: number, period = "2026-03-01T00:00:00Z"): Exchange =>
  exchange({
    method: "GET",
    path: "/usage",
    sentMs,
    json: { period, tokens: { used, limit: 100, remaining: 100 - used } },
  });

describe("two readings of usage", () => {
  it.each([
    ["more tokens", [usage(5, 1000), usage(9, 2000)], "holds"],
    ["fewer tokens", [usage(9, 1000), usage(5, 2000)], "breach"],
    ["fewer tokens of another period", [usage(9, 1000), usage(5, 2000, "2026-04-01T00:00:00Z")], "unproven"],
    ["fewer tokens a month later", [usage(9, 1000), { ...usage(5, 2000), clockMs: 32 * 86_400_000 }], "unproven"],
    ["fewer tokens of overlapping reads", [usage(9, 1000), usage(5, 1010)], "unproven"],
  ])("with %s", (_, reads, expected) => {
    expect(kindOf("USE-10", run(...reads))).toBe(expected);
  });
});

const shown = (key: string, limit: number): Exchange =>
  exchange({ key, headers: [["X-RateLimit-Limit", String(limit)]] });
const team = { perHour: 5000, perMinute: 500, concurrent: 25, burst: null, tokensPerMonth: 10 };

describe("the minute's limit of a tier", () => {
  it.each([
    ["is the same for two keys", [shown("one", 500), shown("two", 500)], "holds"],
    ["differs", [shown("one", 500), shown("two", 600)], "breach"],
    ["and that of the hour differ", [shown("one", 500), shown("two", 5000)], "unproven"],
  ])("%s", (_, exchanges, expected) => {
    const samples = { keys: ["one", "two"].map((key) => ({ key, limits: team })) };
    expect(kindOf("HDR-20", { all: run(...exchanges), samples })).toBe(expected);
  });
});

const created = (path: string, sent: object, json: object): Exchange => exchange({ path, sent, json, status: 201 });

describe("two objects", () => {
  it.each([
    ["WHK-13", "/webhooks", "webhook_id"],
    ["ALR-6", "/alerts", "alert_id"],
  ])("%s: have two ids, unless one request was sent twice", (id, path, name) => {
    const one = created(path, { url: "http://a.example" }, { [name]: "i1" });
    const other = (itsId: string) => created(path, { url: "http://b.example" }, { [name]: itsId });
    expect(kindOf(id, { all: run(one, other("i2")) })).toBe("holds");
    expect(kindOf(id, { all: run(one, other("i1")) })).toBe("breach");
    expect(kindOf(id, { all: run(one, one) })).toBe("unproven");
  });

  it("OPS-7: have two ids", () => {
    const start = (text: string) => created("/batch", { batch: [{ query: text }] }, { operation_id: "op-1" });
    expect(kindOf("OPS-7", { all: { ...run(start("One."), start("Two.")), batchPath: "/batch" } })).toBe("breach");
  });

  it.each([
    [201, "holds"],
    [400, "unproven"],
    [409, "unproven"],
    [404, "breach"],
    [500, "breach"],
  ])("ALR-1/second: a second alert that gets %i: %s", (status, expected) => {
    const first = { created: exchange({ status: 201 }) };
    expect(kindOf("ALR-1/second", { first, second: exchange({ status }) })).toBe(expected);
  });
});

describe("a stream that times out", () => {
  const timedOut = (...events: Parameters<typeof streamed>[0]) => ({ exchange: streamed(events) });

  it.each([
    [
      "SSE-15/timing out",
      "an error",
      timedOut(event("start", {}), event("error", { error: "Late.", code: "X" })),
      "holds",
    ],
    ["SSE-15/timing out", "a code that is a number", timedOut(event("error", { error: "Late.", code: 504 })), "breach"],
    ["SSE-15/timing out", "a refusal", { exchange: exchange({ status: 500 }) }, "unproven"],
    ["SSE-17/timing out", "an error", timedOut(event("start", {}), event("error", { error: "", code: "X" })), "holds"],
    ["SSE-17/timing out", "no end", timedOut(event("start", {})), "breach"],
    ["SSE-17/timing out", "an answer", timedOut(event("start", {}), event("done", {})), "unproven"],
  ])("%s: %s", (id, _, evidence, expected) => {
    expect(kindOf(id, evidence)).toBe(expected);
  });
});
