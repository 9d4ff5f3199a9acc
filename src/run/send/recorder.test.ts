import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { sampleExchange, textBody } from "../../report/testing/sample.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { startRecorder } from "./recorder.ts";

describe("agent executions of a run", () => {
  it.each([
    ["an invoke", "/v1/agents/echo/invoke", '{"query":"hello"}', 200, 1],
    ["an invoke that fails", "/v1/agents/echo/invoke", '{"query":"hello"}', 500, 1],
    ["an invoke that is refused", "/v1/agents/echo/invoke", '{"query":"hello"}', 429, 0],
    ["a batch of two", "/v1/work", '{"batch":[{"query":"hello"},{"query":"again"}]}', 202, 2],
    ["an operation's start at a path of its own", "/v1/work", '{"query":"hello"}', 202, 1],
    ["an operation's start that is refused", "/v1/work", '{"query":"hello"}', 404, 0],
    ["a webhook", "/v1/webhooks", '{"url":"http://a/"}', 201, 0],
  ])("%s counts its agent executions", (_, path, body, status, executions) => {
    const recorder = startRecorder();
    const exchange = sampleExchange("x1", { url: `http://h${path}`, body: textBody(body) }, { status });
    recorder.record(exchange, sampleOf(exchange, 0, 0));
    expect(recorder.executions()).toBe(executions);
  });

  const invoke = { url: "http://h/v1/agents/echo/invoke", body: textBody('{"query":"hello"}') };
  const batch = { url: "http://h/v1/work", body: textBody('{"batch":[{"query":"hello"},{"query":"again"}]}') };
  const unanswered = (reason: "silent" | "broken"): Exchange["answer"] => ({
    kind: "unanswered",
    reason,
    detail: "no response",
    endMs: 30_000,
  });
  it.each<[string, Partial<Exchange["request"]>, Partial<Exchange>, number]>([
    ["without a response", invoke, { answer: unanswered("silent") }, 1],
    ["cut by an outage", invoke, { answer: unanswered("broken"), reconnect: "refused" }, 1],
    ["of a batch, cut by an outage", batch, { answer: unanswered("broken"), reconnect: "refused" }, 2],
    ["answered by a gateway during an outage", invoke, { reconnect: "gateway" }, 1],
  ])("count what an agent may have run: a request %s", (_, request, changes, executions) => {
    const recorder = startRecorder();
    const exchange: Exchange = { ...sampleExchange("x1", request, { status: 502 }), ...changes };
    recorder.record(exchange, sampleOf(exchange, 0, 0));
    expect([recorder.sent(), recorder.executions()]).toEqual([1, executions]);
  });
});
