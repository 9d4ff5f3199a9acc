import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import type { AllDeliveries } from "./probes.ts";
import { deliveries } from "./checks.ts";
import { delivery } from "../testing/delivery.ts";
import { exchange } from "../testing/exchange.ts";
import { judged } from "../testing/judged.ts";
import type { RequestedWebhook } from "../webhooks/create-webhook.ts";
import type { InvokedWithWebhooks } from "../webhooks/probes.ts";

const asked = (hook: string, ...events: readonly string[]): RequestedWebhook => ({
  hook: `webhook-${hook}`,
  events,
  agent: "echo",
  exchange: exchange({ path: "/webhooks", status: 201, json: {} }),
});

function told(
  came: readonly Delivery[],
  change: Partial<InvokedWithWebhooks> = {},
): { sent: InvokedWithWebhooks; all: AllDeliveries } {
  const sent: InvokedWithWebhooks = {
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
  return { sent, all: { deliveries: came, untilMs: 5000, clockMs: 0, canMove: true, unkept: {} } };
}

/** The same where the receiver turned away what came to one webhook. */
const flooded = ({ sent, all }: ReturnType<typeof told>, hook: string): ReturnType<typeof told> => ({
  sent,
  all: { ...all, unkept: { [`webhook-${hook}`]: 3 } },
});
const of = (event: Readonly<Record<string, unknown>>) => told([delivery({ event })]);
const signed = (...values: readonly string[]) =>
  told([delivery({ headers: values.map((value) => ["X-Service-Signature", value] as const) })]);
const to = (hook: string, type: string) => delivery({ hook: `webhook-${hook}`, event: { type } });
/** A sound event, and another that differs from it by these fields alone. */
const twice = (event: Readonly<Record<string, unknown>>) => told([delivery(), delivery({ event })]);
const reach = { baseUrl: "http://127.0.0.1:1", unreachable: null, isNamed: false };

describe("deliveries", () => {
  it.each([
    ["HOOK-1", "holds", "text", of({ id: "e" })],
    ["HOOK-1", "breach", "a number", of({ id: 7 })],
    ["HOOK-1", "breach", "no JSON", told([delivery({ text: "event=1" })])],
    ["HOOK-2", "breach", "an unknown type", of({ type: "agent.done" })],
    ["HOOK-3", "holds", "fractions of a second", of({ created: "2026-03-04T05:06:07.123456Z" })],
    ["HOOK-3", "holds", "the offset zero", of({ created: "2026-03-04T05:06:07+00:00" })],
    ["HOOK-3", "breach", "another offset", of({ created: "2026-03-04T05:06:07+02:00" })],
    ["HOOK-3", "holds", "no offset", of({ created: "2026-03-04T05:06:07" })],
    ["HOOK-39", "breach", "no offset", of({ created: "2026-03-04T05:06:07" })],
    ["HOOK-3", "breach", "seconds since 1970", of({ created: 1_772_600_767 })],
    ["HOOK-40", "holds", "an address that counts for itself", told([delivery(), to("both", "agent.invoked")])],
    ["HOOK-40", "holds", "the same event twice", twice({})],
    ["HOOK-40", "breach", "another type with the same id", twice({ type: "agent.invoked" })],
    ["HOOK-40", "breach", "another request with the same id", twice({ data: { request_id: "r2" } })],
    ["HOOK-40", "holds", "another event with an id of its own", twice({ id: "evt-2", type: "agent.invoked" })],
    ["HOOK-40", "unproven", "no id", of({ id: null })],
    ["HOOK-4", "breach", "data that is a list", of({ data: [] })],
    ["HOOK-5", "breach", "an agent that is null", of({ agent_id: null })],
    ["HOOK-6", "absent", "none", of({})],
    ["HOOK-6", "present", "one in text", of({ deployment_id: "dep" })],
    ["HOOK-6", "breach", "one that is a number", of({ deployment_id: 3 })],
    ["HOOK-8", "holds", "a delivery of every event", of({})],
    ["HOOK-8", "breach", "no delivery", told([])],
    ["HOOK-8", "breach", "none of an invoke's end", told([to("wildcard", "agent.invoked")])],
    ["HOOK-8", "unproven", "a type of no known name alone", told([to("wildcard", "agent.finished")])],
    ["HOOK-8", "unproven", "no delivery, where nobody promised that we can be reached", told([], { reach })],
    ["HOOK-8", "unproven", "none kept of those that came", flooded(told([]), "wildcard")],
    ["HOOK-8", "breach", "no delivery, while another webhook is flooded", flooded(told([]), "elsewhere")],
    [
      "HOOK-8",
      "unproven",
      "no delivery, where we cannot be reached",
      told([], { reach: { ...reach, unreachable: "The tunnel is closed." } }),
    ],
    [
      "HOOK-8",
      "unproven",
      "no delivery after an invoke that failed",
      told([], { invoked: [exchange({ status: 500 })] }),
    ],
    [
      "HOOK-15",
      "holds",
      "to each what it asked for",
      told([to("both", "agent.completed"), to("completed", "agent.completed"), to("unsigned", "agent.completed")]),
    ],
    [
      "HOOK-15",
      "breach",
      "an event that one did not ask for",
      told([to("both", "agent.completed"), to("completed", "agent.invoked")]),
    ],
    ["HOOK-15", "breach", "one of three was sent none", told([to("both", "agent.completed")])],
    ["HOOK-16", "unproven", "one kind of event to the wildcard alone", told([to("wildcard", "agent.invoked")])],
    ["HOOK-16", "breach", "none to the wildcard", told([to("both", "agent.invoked")])],
    ["HOOK-16/no deployment event", "unproven", "none of a deployment", of({})],
    [
      "HOOK-16/no deployment event",
      "holds",
      "to the webhook that asked for it",
      told([to("deployments", "deployment.created")]),
    ],
    [
      "HOOK-16/no deployment event",
      "breach",
      "to a webhook that did not ask for it",
      told([to("wildcard", "deployment.created")]),
    ],
    ["HOOK-17", "holds", "all fields", of({})],
    ["HOOK-17", "breach", "a field alone", of({ data: { request_id: "r" } })],
    ["HOOK-41", "holds", "a time that may be", of({})],
    ["HOOK-41", "breach", "a negative time", of({ data: { execution_time: -0.5 } })],
    ["HOOK-21", "holds", "hexadecimal", signed("ab12")],
    ["HOOK-21", "breach", "in capitals", signed("AB12")],
    ["HOOK-21", "breach", "with a prefix", signed("sha256=ab12")],
    ["HOOK-21", "breach", "twice", signed("ab12", "ab12")],
    ["HOOK-21", "breach", "none", signed()],
    ["HOOK-21", "unproven", "a secret that we do not know", told([delivery({ computedSignature: null })])],
  ] as const)("%s %s: %s", (id, expected, _case, evidence) => {
    expect(judged(deliveries, id, evidence)).toBe(expected);
  });
});
