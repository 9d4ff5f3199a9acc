import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Delivered } from "./probes.ts";
import { deliveries } from "./checks.ts";
import { delivery } from "../testing/delivery.ts";
import { exchange } from "../testing/exchange.ts";
import { judged } from "../testing/judged.ts";
import type { Asked } from "../webhooks/calls.ts";
import type { Hooked } from "../webhooks/probes.ts";

const asked = (hook: string, ...events: readonly string[]): Asked => ({
  hook: `webhook-${hook}`,
  events,
  agent: "echo",
  exchange: exchange({ path: "/webhooks", status: 201, json: {} }),
});

function told(came: readonly Delivery[], change: Partial<Hooked> = {}): { sent: Hooked; all: Delivered } {
  const sent: Hooked = {
    reach: { baseUrl: "http://127.0.0.1:1", unreachable: null, isNamed: true },
    webhooks: {
      wildcard: asked("wildcard", "agent.*"),
      both: asked("both", "agent.invoked", "agent.completed"),
      completed: asked("completed", "agent.completed"),
      unsigned: asked("unsigned", "agent.completed"),
      deployments: asked("deployments", "deployment.created"),
    },
    elsewhere: null,
    invoked: [exchange()],
    deliveries: came,
    listed: null,
    shown: [],
    ...change,
  };
  return { sent, all: { deliveries: came, untilMs: 5000, clockMs: 0, canMove: true } };
}

const of = (event: Readonly<Record<string, unknown>>) => told([delivery({ event })]);
const signed = (...values: readonly string[]) =>
  told([delivery({ headers: values.map((value) => ["X-Service-Signature", value] as const) })]);
const to = (hook: string, type: string) => delivery({ hook: `webhook-${hook}`, event: { type } });
const reach = { baseUrl: "http://127.0.0.1:1", unreachable: null, isNamed: false };

describe("deliveries", () => {
  it.each([
    ["HOOK-1", "holds", of({ id: "e" })],
    ["HOOK-1", "breach", of({ id: 7 })],
    ["HOOK-1", "breach", told([delivery({ text: "event=1" })])],
    ["HOOK-2", "breach", of({ type: "agent.done" })],
    ["HOOK-3", "holds", of({ created: "2026-03-04T05:06:07.123456Z" })],
    ["HOOK-3", "holds", of({ created: "2026-03-04T05:06:07+00:00" })],
    ["HOOK-3", "breach", of({ created: "2026-03-04T05:06:07+02:00" })],
    ["HOOK-3", "breach", of({ created: "2026-03-04T05:06:07" })],
    ["HOOK-3", "breach", of({ created: 1_772_600_767 })],
    ["HOOK-4", "breach", of({ data: [] })],
    ["HOOK-5", "breach", of({ agent_id: null })],
    ["HOOK-6", "absent", of({})],
    ["HOOK-6", "present", of({ deployment_id: "dep" })],
    ["HOOK-6", "breach", of({ deployment_id: 3 })],
    ["HOOK-8", "holds", of({})],
    ["HOOK-8", "breach", told([])],
    ["HOOK-8", "breach", told([to("wildcard", "agent.invoked")])],
    ["HOOK-8", "unproven", told([to("wildcard", "agent.finished")])],
    ["HOOK-8", "unproven", told([], { reach })],
    ["HOOK-8", "unproven", told([], { reach: { ...reach, unreachable: "The tunnel is closed." } })],
    ["HOOK-8", "unproven", told([], { invoked: [exchange({ status: 500 })] })],
    [
      "HOOK-15",
      "holds",
      told([to("both", "agent.completed"), to("completed", "agent.completed"), to("unsigned", "agent.completed")]),
    ],
    ["HOOK-15", "breach", told([to("both", "agent.completed"), to("completed", "agent.invoked")])],
    ["HOOK-15", "breach", told([to("both", "agent.completed")])],
    ["HOOK-16", "unproven", told([to("wildcard", "agent.invoked")])],
    ["HOOK-16", "breach", told([to("both", "agent.invoked")])],
    ["HOOK-16/no deployment event", "unproven", of({})],
    ["HOOK-16/no deployment event", "holds", told([to("deployments", "deployment.created")])],
    ["HOOK-16/no deployment event", "breach", told([to("wildcard", "deployment.created")])],
    ["HOOK-17", "holds", of({})],
    ["HOOK-17", "breach", of({ data: { request_id: "r" } })],
    ["HOOK-21", "holds", signed("ab12")],
    ["HOOK-21", "breach", signed("AB12")],
    ["HOOK-21", "breach", signed("sha256=ab12")],
    ["HOOK-21", "breach", signed("ab12", "ab12")],
    ["HOOK-21", "breach", signed()],
    ["HOOK-21", "unproven", told([delivery({ computedSignature: null })])],
  ] as const)("%s %s", (id, expected, evidence) => {
    expect(judged(deliveries, id, evidence)).toBe(expected);
  });
});
