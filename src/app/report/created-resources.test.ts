import { describe, expect, it } from "vitest";

import { createdResources } from "./run-report.ts";
import { sampleExchange, textBody } from "../../report/testing/sample.ts";

const started = new Date("2030-01-01T00:00:00.000Z");
const base = "https://acme.example/v1";

const created = (url: string, answer: string, { method = "POST", status = 201 } = {}) =>
  createdResources(
    [sampleExchange("x1", { method, url: base + url }, { status, body: textBody(answer) })],
    started,
  ).map(({ kind, id }) => [kind, id]);

describe("resources left on the target", () => {
  it.each([
    { name: "a webhook's own name for it", url: "/webhooks", answer: '{"webhook_id":"wh_1"}', is: ["webhook", "wh_1"] },
    { name: "a plain id", url: "/webhooks", answer: '{"id":"wh_2"}', is: ["webhook", "wh_2"] },
    { name: "an id in the envelope", url: "/webhooks", answer: '{"data":{"id":"wh_3"}}', is: ["webhook", "wh_3"] },
    {
      name: "an id deep in it",
      url: "/webhooks/",
      answer: '{"data":{"result":{"webhook":{"webhook_id":7}}}}',
      is: ["webhook", "7"],
    },
    { name: "a webhook without an id", url: "/webhooks?a=b", answer: "", is: ["webhook", null] },
    { name: "an answer that is no JSON", url: "/webhooks", answer: "<p>", is: ["webhook", null] },
    { name: "an alert", url: "/alerts", answer: '{"alert_id":"al_1","id":"other"}', is: ["alert", "al_1"] },
    {
      name: "an operation",
      url: "/agents/echo/batch",
      answer: '{"operation_id":"op_1","status":"pending"}',
      is: ["operation", "op_1"],
    },
    {
      name: "an operation in the envelope",
      url: "/anywhere",
      answer: '{"status":"success","data":{"result":{"operation_id":"op_2"}}}',
      is: ["operation", "op_2"],
    },
  ])("knows $name", ({ url, answer, is }) => {
    expect(created(url, answer)).toEqual([is]);
  });

  it.each([
    { name: "a refused webhook", url: "/webhooks", answer: '{"id":"a"}', options: { status: 400 } },
    { name: "a reading of webhooks", url: "/webhooks", answer: '{"id":"a"}', options: { method: "GET", status: 200 } },
    {
      name: "a reading of an operation",
      url: "/operations/op_1",
      answer: '{"operation_id":"op_1"}',
      options: { method: "GET", status: 200 },
    },
    { name: "an invoke", url: "/agents/echo/invoke", answer: '{"result":{}}', options: { status: 200 } },
    { name: "an agent named webhooks", url: "/agents/webhooks/invoke", answer: '{"result":{}}', options: {} },
  ])("does not take $name for one", ({ url, answer, options }) => {
    expect(created(url, answer, options)).toEqual([]);
  });

  it("names the key, the time and the exchange", () => {
    const exchange = sampleExchange("x9", { url: `${base}/alerts` }, { status: 200, endMs: 1500 });
    expect(createdResources([exchange], started)).toEqual([
      { kind: "alert", id: null, key: "key", at: "2030-01-01T00:00:01.500Z", exchange: "x9" },
    ]);
  });
});
