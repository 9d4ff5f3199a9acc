import { describe, expect, it } from "vitest";

import { deliveries } from "./checks.ts";
import { exchange } from "../testing/exchange.ts";
import { judged } from "../testing/judged.ts";

const created = exchange({ path: "/webhooks", status: 201, json: { webhook_id: "w-1" } });
const refused = exchange({ path: "/webhooks", status: 400, json: { error: {} } });

const evidence = (withoutAgent: typeof created, failure: string | null = null) => ({
  sent: {
    reach: { baseUrl: "http://127.0.0.1:9", unreachable: null, isNamed: true },
    webhooks: { deployments: { hook: "webhook-deployments", events: [], agent: "clerk", exchange: created } },
  },
  untied: { withoutAgent: { hook: "webhook-without-agent", events: [], agent: null, exchange: withoutAgent } },
  triggered: { event: "deployment.updated", failure, deliveries: [] },
  all: { deliveries: [], untilMs: 0, clockMs: 0, canMove: false, unkept: {} },
});

const turnedAway = (hook: string) => {
  const shown = evidence(created);
  return { ...shown, all: { ...shown.all, unkept: { [hook]: 3 } } };
};

describe("an event of a deployment of which nothing came", () => {
  it.each([
    ["although a webhook of every agent was created", evidence(created), "breach"],
    ["where a webhook must be tied, perhaps to another agent", evidence(refused), "unproven"],
    ["since the call failed that makes it happen", evidence(created, "404"), "unproven"],
    ["where so many came that the receiver turned some away", turnedAway("webhook-without-agent"), "unproven"],
    ["where the receiver turned away what came to another webhook", turnedAway("webhook-wildcard"), "breach"],
  ])("%s", (_, shown, expected) => {
    expect(judged(deliveries, "HOOK-12", shown)).toBe(expected);
  });
});
