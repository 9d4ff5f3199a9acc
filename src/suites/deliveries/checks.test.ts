import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import { deliveries } from "./checks.ts";
import { delivery, exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import type { RequestedWebhook } from "../webhooks/create-webhook.ts";
import type { InvokedWithWebhooks } from "../webhooks/probes.ts";
import type { AllDeliveries } from "./events.ts";

const requested = (hook: string, ...events: readonly string[]): RequestedWebhook => ({
  hook: `webhook-${hook}`,
  events,
  agent: "echo",
  exchange: exchange({ path: "/webhooks", status: 201, json: {} }),
});

function evidenceOf(
  arrived: readonly Delivery[],
  change: Partial<InvokedWithWebhooks> = {},
): { sent: InvokedWithWebhooks; all: AllDeliveries } {
  const sent: InvokedWithWebhooks = {
    reach: { baseUrl: "http://127.0.0.1:1", unreachable: null, isNamed: true },
    webhooks: {
      wildcard: requested("wildcard", "agent.*"),
      both: requested("both", "agent.invoked", "agent.completed"),
      completed: requested("completed", "agent.completed"),
      unsigned: requested("unsigned", "agent.completed"),
      deployments: requested("deployments", "deployment.created"),
    },
    elsewhere: null,
    invoked: [exchange()],
    deliveries: arrived,
    listed: null,
    shown: [],
    ...change,
  };
  return { sent, all: { deliveries: arrived, untilMs: 5000, clockMs: 0, canMove: true, unkept: {} } };
}

/** The same evidence, except that the receiver dropped deliveries to one webhook. */
const withDropped = ({ sent, all }: ReturnType<typeof evidenceOf>, hook: string): ReturnType<typeof evidenceOf> => ({
  sent,
  all: { ...all, unkept: { [`webhook-${hook}`]: 3 } },
});
/** The same evidence, except that the receiver closed a connection that may have brought a delivery. */
const withRefused = ({ sent, all }: ReturnType<typeof evidenceOf>): ReturnType<typeof evidenceOf> => ({
  sent,
  all: { ...all, refusedConnections: 1 },
});
const withEvent = (event: Readonly<Record<string, unknown>>) => evidenceOf([delivery({ event })]);
const signed = (...values: readonly string[]) =>
  evidenceOf([delivery({ headers: values.map((value) => ["X-Service-Signature", value] as const) })]);
const to = (hook: string, type: string) => delivery({ hook: `webhook-${hook}`, event: { type } });
/** The evidence of a valid event, and of a copy in which these fields differ. */
const twice = (event: Readonly<Record<string, unknown>>) => evidenceOf([delivery(), delivery({ event })]);

/** Deliveries to the URL of two webhooks, each with this signature: `aa` is by the first secret, `bb` by the second. */
const toOneUrl = (signatures: readonly string[], ids = ["wh-1", "wh-2"]) => {
  const [first = "", second = ""] = ids;
  const created = [first, second].map((id) => exchange({ path: "/webhooks", status: 201, json: { webhook_id: id } }));
  const [one = exchange(), other = exchange()] = created;
  const arrived = signatures.map((value) =>
    delivery({
      hook: "same-url",
      computedSignature: "aa",
      otherSignatures: ["bb"],
      headers: [["X-Service-Signature", value]],
    }),
  );
  const invoked = [exchange(), exchange()];
  return evidenceOf([delivery()], { invoked, sameUrl: { created: [one, other], deliveries: arrived } }).sent;
};

it.each([
  ["each by its own secret", toOneUrl(["aa", "bb", "aa", "bb"]), "holds"],
  ["all by the first secret", toOneUrl(["aa", "aa", "aa", "aa"]), "breach"],
  ["all by the second secret", toOneUrl(["bb", "bb", "bb", "bb"]), "breach"],
  ["one by no secret", toOneUrl(["aa", "bb", "aa", "cc"]), "breach"],
  ["one delivery for each execution, as of one webhook", toOneUrl(["aa", "aa"]), "inapplicable"],
  ["one delivery repeated", toOneUrl(["aa", "aa", "aa"]), "inapplicable"],
  ["one id for both", toOneUrl(["aa", "aa", "aa", "aa"], ["wh-1", "wh-1"]), "inapplicable"],
])("HOOK-21 of two webhooks with one URL: %s", (_, sent, kind) => {
  expect(judged(deliveries, "HOOK-21/two webhooks of one URL", sent)).toBe(kind);
});

const reach = { baseUrl: "http://127.0.0.1:1", unreachable: null, isNamed: false };

describe("deliveries", () => {
  it.each([
    ["HOOK-1", "holds", "text", withEvent({ id: "e" })],
    ["HOOK-1", "breach", "a number", withEvent({ id: 7 })],
    ["HOOK-1", "breach", "no JSON", evidenceOf([delivery({ text: "event=1" })])],
    ["HOOK-2", "breach", "an unknown type", withEvent({ type: "agent.done" })],
    ["HOOK-3", "holds", "fractions of a second", withEvent({ created: "2026-03-04T05:06:07.123456Z" })],
    ["HOOK-3", "holds", "the offset zero", withEvent({ created: "2026-03-04T05:06:07+00:00" })],
    ["HOOK-3", "breach", "another offset", withEvent({ created: "2026-03-04T05:06:07+02:00" })],
    ["HOOK-3", "holds", "no offset", withEvent({ created: "2026-03-04T05:06:07" })],
    ["HOOK-39", "breach", "no offset", withEvent({ created: "2026-03-04T05:06:07" })],
    ["HOOK-3", "breach", "seconds since 1970", withEvent({ created: 1_772_600_767 })],
    ["HOOK-40", "holds", "the same id at another address", evidenceOf([delivery(), to("both", "agent.invoked")])],
    ["HOOK-40", "holds", "the same event twice", twice({})],
    ["HOOK-40", "breach", "another type with the same id", twice({ type: "agent.invoked" })],
    ["HOOK-40", "breach", "another request with the same id", twice({ data: { request_id: "r2" } })],
    ["HOOK-40", "holds", "another event with its own id", twice({ id: "evt-2", type: "agent.invoked" })],
    ["HOOK-40", "unproven", "no id", withEvent({ id: null })],
    ["HOOK-4", "breach", "data that is a list", withEvent({ data: [] })],
    ["HOOK-5", "breach", "an agent that is null", withEvent({ agent_id: null })],
    ["HOOK-6", "absent", "none", withEvent({})],
    ["HOOK-6", "present", "one in text", withEvent({ deployment_id: "dep" })],
    ["HOOK-6", "breach", "one that is a number", withEvent({ deployment_id: 3 })],
    ["HOOK-8", "holds", "a delivery of each event", withEvent({})],
    ["HOOK-8", "breach", "no delivery", evidenceOf([])],
    ["HOOK-8", "breach", "none for the end of an invoke", evidenceOf([to("wildcard", "agent.invoked")])],
    ["HOOK-8", "unproven", "only an unpublished type", evidenceOf([to("wildcard", "agent.finished")])],
    ["HOOK-8", "unproven", "no delivery, to a receiver that may be unreachable", evidenceOf([], { reach })],
    ["HOOK-8", "unproven", "only dropped deliveries", withDropped(evidenceOf([]), "wildcard")],
    ["HOOK-8", "unproven", "no delivery, while a connection was refused", withRefused(evidenceOf([]))],
    ["HOOK-8", "holds", "a delivery of each event, while a connection was refused", withRefused(withEvent({}))],
    ["HOOK-21", "breach", "in upper case, while a connection was refused", withRefused(signed("AB12"))],
    [
      "HOOK-15",
      "holds",
      "none to one of three webhooks, while a connection was refused",
      withRefused(evidenceOf([to("both", "agent.completed")])),
    ],
    [
      "HOOK-8",
      "breach",
      "no delivery, while those to another webhook are dropped",
      withDropped(evidenceOf([]), "elsewhere"),
    ],
    [
      "HOOK-8",
      "unproven",
      "no delivery, to an unreachable receiver",
      evidenceOf([], { reach: { ...reach, unreachable: "The tunnel is closed." } }),
    ],
    [
      "HOOK-8",
      "unproven",
      "no delivery after an invoke that failed",
      evidenceOf([], { invoked: [exchange({ status: 500 })] }),
    ],
    [
      "HOOK-15",
      "holds",
      "to each webhook the events that it selects",
      evidenceOf([
        to("both", "agent.completed"),
        to("completed", "agent.completed"),
        to("unsigned", "agent.completed"),
      ]),
    ],
    [
      "HOOK-15",
      "breach",
      "an event that a webhook does not select",
      evidenceOf([to("both", "agent.completed"), to("completed", "agent.invoked")]),
    ],
    ["HOOK-15", "breach", "none to one of three webhooks", evidenceOf([to("both", "agent.completed")])],
    ["HOOK-16", "unproven", "one type of event, to the wildcard only", evidenceOf([to("wildcard", "agent.invoked")])],
    ["HOOK-16", "breach", "none to the wildcard", evidenceOf([to("both", "agent.invoked")])],
    ["HOOK-16/no deployment event", "unproven", "no deployment event", withEvent({})],
    [
      "HOOK-16/no deployment event",
      "holds",
      "to the webhook that selects it",
      evidenceOf([to("deployments", "deployment.created")]),
    ],
    [
      "HOOK-16/no deployment event",
      "breach",
      "to a webhook that does not select it",
      evidenceOf([to("wildcard", "deployment.created")]),
    ],
    ["HOOK-17", "holds", "all fields", withEvent({})],
    ["HOOK-17", "breach", "a single field", withEvent({ data: { request_id: "r" } })],
    ["HOOK-41", "holds", "a plausible time", withEvent({})],
    ["HOOK-41", "breach", "a negative time", withEvent({ data: { execution_time: -0.5 } })],
    ["HOOK-21", "holds", "hexadecimal", signed("ab12")],
    ["HOOK-21", "breach", "in upper case", signed("AB12")],
    ["HOOK-21", "breach", "with a prefix", signed("sha256=ab12")],
    ["HOOK-21", "breach", "twice", signed("ab12", "ab12")],
    ["HOOK-21", "breach", "none", signed()],
    ["HOOK-21", "unproven", "an unknown secret", evidenceOf([delivery({ computedSignature: null })])],
  ] as const)("%s %s: %s", (id, expected, _case, evidence) => {
    expect(judged(deliveries, id, evidence)).toBe(expected);
  });
});
