import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import { deliveries } from "./checks.ts";
import { delivery, exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";

const created = exchange({ path: "/webhooks", status: 201, json: { webhook_id: "w-1" } });
const rejected = exchange({ path: "/webhooks", status: 400, json: { error: {} } });

const evidence = (withoutAgent: typeof created, failure: string | null = null) => ({
  sent: {
    reach: { baseUrl: "http://127.0.0.1:9", unreachable: null, isNamed: true },
    webhooks: { deployments: { hook: "webhook-deployments", events: [], agent: "clerk", exchange: created } },
  },
  untied: { withoutAgent: { hook: "webhook-without-agent", events: [], agent: null, exchange: withoutAgent } },
  triggered: { event: "deployment.updated", failure, deliveries: [] },
  all: { deliveries: [], untilMs: 0, clockMs: 0, canMove: false, unkept: {} },
});

const withDropped = (hook: string) => {
  const base = evidence(created);
  return { ...base, all: { ...base.all, unkept: { [hook]: 3 } } };
};

const withRefused = () => {
  const base = evidence(created);
  return { ...base, all: { ...base.all, refusedConnections: 2 } };
};

const heard = (sameAgent: object | null | undefined, ...arrived: readonly Delivery[]) => ({
  created: { event: "deployment.created", failure: null, deliveries: [], sameAgent },
  all: { deliveries: arrived, untilMs: 0, clockMs: 0, canMove: false, unkept: {} },
});
const deployed = (hook: string, agent_id = "bard") =>
  delivery({ hook: `webhook-${hook}`, event: { type: "deployment.updated", agent_id }, receivedMs: 5000 });
const wildcard = (made: typeof created) => ({
  hook: "webhook-deployed-agent",
  events: ["agent.*"],
  agent: "bard",
  exchange: made,
});

describe("a webhook of `agent.*` for the agent of a deployment event", () => {
  it.each([
    ["gets no deployment event", heard(wildcard(created), deployed("without-agent")), "holds"],
    ["gets a deployment event", heard(wildcard(created), deployed("deployed-agent")), "breach"],
    ["hears of no later one", heard(wildcard(created)), "unproven"],
    ["hears of another agent's", heard(wildcard(created), deployed("without-agent", "clerk")), "unproven"],
    ["was rejected", heard(wildcard(rejected), deployed("without-agent")), "unproven"],
    ["was not needed", heard(null, deployed("without-agent")), "unproven"],
    ["is missing from older evidence", heard(undefined, deployed("without-agent")), "unproven"],
  ])("%s", (_, given, expected) => {
    expect(judged(deliveries, "HOOK-16/no deployment event, same agent", given)).toBe(expected);
  });
});

describe("the health of an agent around `deployment.health_changed`", () => {
  const report = (status: string, more: object = {}) => exchange({ json: { status, checks: {}, ...more } });
  const changed = (event: object) =>
    delivery({
      event: { type: "deployment.health_changed", agent_id: "clerk", data: { status: "degraded" }, ...event },
    });
  const completed = (event: object) => delivery({ event: { agent_id: "clerk", ...event } });
  const none = { deployment_id: undefined };
  const [first, second] = [{ deployment_id: "dep_1" }, { deployment_id: "dep_2" }];
  const [healthy, degraded] = [report("healthy"), report("degraded")];

  it.each([
    ["follows", changed(first), [completed(first)], degraded, "holds"],
    ["stays, with one deployment", changed(first), [completed(first)], healthy, "breach"],
    ["stays, with deployments that are not named", changed(none), [completed(none)], healthy, "breach"],
    ["stays, and the report names the deployment", changed(first), [], report("healthy", first), "breach"],
    ["stays, with two deployments", changed(second), [completed(first)], healthy, "inapplicable"],
    ["stays, and only the event names a deployment", changed(second), [completed(none)], healthy, "inapplicable"],
    ["stays, and the report names another deployment", changed(second), [], report("healthy", first), "inapplicable"],
    [
      "stays, with a deployment of another agent",
      changed(first),
      [completed(first), completed({ ...second, agent_id: "bard" })],
      healthy,
      "breach",
    ],
    [
      "stays, and some events name no deployment",
      changed(first),
      [completed(none), completed(first)],
      healthy,
      "breach",
    ],
    ["stays, and the event names none", changed(none), [completed(first)], healthy, "inapplicable"],
    [
      "stays, and only deployment events name one",
      changed(first),
      [completed(none), completed({ ...first, type: "deployment.created" })],
      healthy,
      "inapplicable",
    ],
  ])("%s", (_, event, others, after, expected) => {
    const triggered = { event: "deployment.health_changed", failure: null, deliveries: [event] };
    const given = {
      changed: { ...triggered, health: { before: healthy, after } },
      all: { ...evidence(created).all, deliveries: [event, ...others] },
    };
    expect(judged(deliveries, "HOOK-14/health follows", given)).toBe(expected);
  });
});

describe("a deployment event without a delivery", () => {
  it.each([
    ["although a webhook of all agents was created", evidence(created), "breach"],
    ["if every webhook must name an agent, perhaps another one", evidence(rejected), "unproven"],
    ["because the call that triggers it failed", evidence(created, "404"), "unproven"],
    ["if the receiver was full and dropped deliveries", withDropped("webhook-without-agent"), "unproven"],
    ["if the receiver refused connections", withRefused(), "unproven"],
    ["if the receiver dropped deliveries to another webhook", withDropped("webhook-wildcard"), "breach"],
  ])("%s", (_, given, expected) => {
    expect(judged(deliveries, "HOOK-12", given)).toBe(expected);
  });
});
