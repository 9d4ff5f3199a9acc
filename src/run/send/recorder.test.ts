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

  it("count an invoke without a response, which an agent may have run", () => {
    const recorder = startRecorder();
    const request = { url: "http://h/v1/agents/echo/invoke", body: textBody('{"query":"hello"}') };
    const exchange: Exchange = {
      ...sampleExchange("x1", request, {}),
      answer: { kind: "unanswered", reason: "silent", detail: "no response head within 30 s", endMs: 30_000 },
    };
    recorder.record(exchange, sampleOf(exchange, 0, 0));
    expect(recorder.executions()).toBe(1);
  });
});
