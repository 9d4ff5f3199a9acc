import { describe, expect, it } from "vitest";

import type { RequestedWebhook } from "./create-webhook.ts";
import { webhookIdOf } from "./create-webhook.ts";
import { delivery, exchange, unanswered } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { itemsIn, webhooks } from "./checks.ts";
import type { InvokedWithWebhooks } from "./probes.ts";

const requestedWebhook = (hook: string, made: Parameters<typeof exchange>[0] = {}): RequestedWebhook => ({
  hook: `webhook-${hook}`,
  events: ["agent.*"],
  agent: "echo",
  exchange: exchange({ path: "/webhooks", status: 201, json: { webhook_id: "w1" }, ...made }),
});

const hooked = (change: Partial<InvokedWithWebhooks> = {}): InvokedWithWebhooks => ({
  reach: { baseUrl: "http://127.0.0.1:1", unreachable: null, isNamed: true },
  webhooks: {
    wildcard: requestedWebhook("wildcard"),
    both: requestedWebhook("both"),
    completed: requestedWebhook("completed"),
    unsigned: requestedWebhook("unsigned"),
    deployments: requestedWebhook("deployments"),
  },
  elsewhere: requestedWebhook("elsewhere"),
  invoked: [exchange()],
  deliveries: [delivery()],
  listed: exchange({ method: "GET", json: { data: [] } }),
  shown: [],
  ...change,
});

const unansweredWebhook: RequestedWebhook = {
  ...requestedWebhook("both"),
  exchange: unanswered({ path: "/webhooks" }, "broken"),
};

const withAll = (made: Parameters<typeof exchange>[0]): InvokedWithWebhooks["webhooks"] => ({
  wildcard: requestedWebhook("wildcard", made),
  both: requestedWebhook("both", made),
  completed: requestedWebhook("completed", made),
  unsigned: requestedWebhook("unsigned", made),
  deployments: requestedWebhook("deployments", made),
});

const metrics = {
  webhook_id: "w1",
  total_deliveries: 3,
  successful: 2,
  failed: 1,
  average_response_time: 12.5,
  last_delivery: "2026-03-04T05:06:07Z",
};
const showing = (json: unknown): InvokedWithWebhooks => hooked({ shown: [exchange({ method: "GET", json })] });

describe("the id of a webhook", () => {
  it.each([
    [{ webhook_id: "w1" }, "w1"],
    [{ id: "w2" }, "w2"],
    [{ id: 7 }, "7"],
    [{ status: "success", data: { webhook_id: "w3" } }, "w3"],
    [{ status: "success", data: { result: { id: "w4" } } }, "w4"],
    [{ message: "created" }, null],
  ])("%j", (json, id) => {
    expect(webhookIdOf(exchange({ status: 201, json }))).toBe(id);
  });

  it("is that of no webhook where none was created", () => {
    expect(webhookIdOf(exchange({ status: 400, json: { id: "w1" } }))).toBeNull();
  });
});

describe("a list within an answer", () => {
  it.each([
    [[1]],
    [{ data: [1] }],
    [{ deliveries: [1] }],
    [{ data: { deliveries: [1] } }],
    [{ data: { result: [1] } }],
    [{ data: { result: { deliveries: [1] } } }],
    [{ data: { webhook_id: "w", data: [1] } }],
    [{ items: [1] }],
  ])("%j", (body) => {
    expect(itemsIn(body)).toEqual([1]);
  });
});

describe("webhooks", () => {
  it.each<readonly [string, string, string, InvokedWithWebhooks]>([
    ["WHK-1", "answers-201", "all", hooked()],
    ["WHK-1", "answers-200", "all", hooked({ webhooks: withAll({ status: 200 }) })],
    [
      "WHK-1",
      "answers-2xx",
      "one of five answers 200",
      hooked({ webhooks: { ...hooked().webhooks, both: requestedWebhook("both", { status: 200 }) } }),
    ],
    ["WHK-1", "breach", "all are refused", hooked({ webhooks: withAll({ status: 404 }) })],
    [
      "WHK-1",
      "unproven",
      "one is not answered",
      hooked({ webhooks: { ...hooked().webhooks, both: unansweredWebhook } }),
    ],
    [
      "WHK-1",
      "breach",
      "two are not answered",
      hooked({ webhooks: { ...hooked().webhooks, both: unansweredWebhook, wildcard: unansweredWebhook } }),
    ],
    [
      "WHK-1",
      "answers-201",
      "one without a secret is refused",
      hooked({ webhooks: { ...hooked().webhooks, unsigned: requestedWebhook("unsigned", { status: 400 }) } }),
    ],
    ["WHK-1", "unproven", "a limit was met", hooked({ webhooks: withAll({ status: 429 }) })],
    ["WHK-3", "holds", "no delivery of another agent", hooked()],
    [
      "WHK-3",
      "breach",
      "a delivery to another agent's webhook",
      hooked({ deliveries: [delivery(), delivery({ hook: "webhook-elsewhere" })] }),
    ],
    [
      "WHK-3",
      "holds",
      "a delivery to another agent's webhook, of that agent",
      hooked({ deliveries: [delivery(), delivery({ hook: "webhook-elsewhere", event: { agent_id: "x" } })] }),
    ],
    [
      "WHK-3",
      "holds",
      "a ping to another agent's webhook, where no delivery names an agent",
      hooked({
        deliveries: [
          delivery({ event: { agent_id: undefined } }),
          delivery({ hook: "webhook-elsewhere", event: { agent_id: undefined, type: "ping" } }),
        ],
      }),
    ],
    ["WHK-3", "unproven", "no webhook of another agent", hooked({ elsewhere: null })],
    ["WHK-3", "unproven", "no delivery", hooked({ deliveries: [] })],
    ["WHK-7", "holds", "a list", hooked()],
    ["WHK-7", "breach", "answered 404", hooked({ listed: exchange({ method: "GET", status: 404 }) })],
    ["WHK-7", "unproven", "no webhook to list", hooked({ listed: null })],
    ["WHK-9", "absent", "no list of metrics", hooked()],
    ["WHK-9", "present", "metrics", showing(metrics)],
    ["WHK-9", "present", "metrics in the envelope", showing({ status: "success", data: { result: metrics } })],
    ["WHK-9", "breach", "a count in text", showing({ ...metrics, failed: "1" })],
    ["WHK-9", "breach", "fields that are absent", showing({ total_deliveries: 3 })],
    ["WHK-9", "unproven", "no webhook to show", hooked({ listed: null })],
    ["WHK-11", "holds", "a sum that is right", showing(metrics)],
    ["WHK-11", "breach", "a sum that is one off", showing({ ...metrics, failed: 2 })],
    ["WHK-11", "unproven", "no metrics", hooked()],
    ["WHK-12", "observed", "the list of webhooks", hooked()],
  ])("%s %s: %s", (id, expected, _case, evidence) => {
    expect(judged(webhooks, id, evidence)).toBe(expected);
  });

  it.each([
    ["WHK-2/url", 400, "refused"],
    ["WHK-2/url", 201, "accepted"],
    ["WHK-2/url", 500, "breach"],
    ["WHK-2/events", 422, "refused"],
    ["WHK-2/events", 302, "breach"],
    ["WHK-2/events", 429, "unproven"],
  ] as const)("%s answered %i %s", (id, status, expected) => {
    const malformed = { numberAsUrl: exchange({ status }), textAsEvents: exchange({ status }) };
    expect(judged(webhooks, id, { valid: hooked(), malformed })).toBe(expected);
  });
});
