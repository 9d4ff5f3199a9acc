import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Header } from "../../evidence/exchange.ts";
import { judgeDeliveredAgentId, judgeCreatedTime } from "./event-content.ts";
import { withoutPings } from "./events.ts";
import { exchange } from "../testing/evidence.ts";
import type { InvokedWithWebhooks } from "../webhooks/probes.ts";

const invokedAt = "Wed, 04 Mar 2026 05:06:07 GMT";

const delivery = (event: object, clockAtMostMs: number): Delivery => ({
  id: "d1",
  hook: "webhook-both",
  attempt: 1,
  request: {
    method: "POST",
    url: "/t/webhook-both",
    headers: [],
    body: { kind: "text", text: JSON.stringify(event), bytes: 1 },
  },
  peer: "127.0.0.1",
  receivedMs: 1,
  clockMs: clockAtMostMs,
  clockAtMostMs,
  computedSignature: null,
  reply: { kind: "answered", status: 200, endMs: 1 },
});

const evidenceWith = (
  event: object,
  clockMs = 0,
  headers: readonly Header[] = [["Date", invokedAt]],
): InvokedWithWebhooks => {
  const requested = (hook: string) => ({ exchange: exchange({ status: 201 }), hook });
  return {
    webhooks: {
      wildcard: requested("webhook-wildcard"),
      both: requested("webhook-both"),
      completed: requested("webhook-completed"),
    },
    invoked: [exchange({ path: "/agents/a%20b/invoke", headers })],
    deliveries: [delivery(event, clockMs)],
  } as unknown as InvokedWithWebhooks;
};

describe("the agent of an event", () => {
  it.each([
    [{ agent_id: "a b" }, "holds"],
    [{ agent_id: "echo" }, "breach"],
    [{ agent_id: 5 }, "unproven"],
    [{}, "unproven"],
  ])("%j: %s", (event, expected) => {
    expect(judgeDeliveredAgentId(evidenceWith(event)).kind).toBe(expected);
  });
});

describe("a ping to a new address", () => {
  it("is not an event of an agent", () => {
    const ping = { ...delivery({ type: "ping", agent_id: "none" }, 0), attempt: 1 };
    const known = { ...delivery({ id: "p1", type: "ping", agent_id: "none" }, 0), attempt: 1 };
    const event = { ...delivery({ type: "agent.invoked", agent_id: "a b" }, 0), attempt: 2 };
    const judge = (...deliveries: (typeof ping)[]) => judgeDeliveredAgentId({ ...evidenceWith({}), deliveries }).kind;
    expect(judge(ping, event)).toBe("holds");
    expect(judge(ping, ping, event)).toBe("holds");
    expect(judge(ping, event, { ...ping, attempt: 3 })).toBe("breach");
    expect(judge(known, event, { ...known, attempt: 3 })).toBe("holds");
    expect(judge(ping)).toBe("breach");
  });

  const started = (request_id: string) => delivery({ type: "agent.started", data: { request_id } }, 0);
  const completed = delivery({ type: "agent.completed", data: { request_id: "r1" } }, 0);
  it.each([
    ["names a request", [started("r1"), started("r2"), completed], 2],
    ["names none", [delivery({ id: "p1", type: "ping", data: {} }, 0), completed], 0],
    ["has the id of one, later", [delivery({ id: "p1", type: "ping" }, 0), completed, delivery({ id: "p1" }, 0)], 0],
    ["has another id, later", [delivery({ id: "p1", type: "ping" }, 0), completed, delivery({ id: "p2" }, 0)], 1],
    ["has no id, later", [delivery({ type: "ping" }, 0), completed, delivery({ type: "ping" }, 0)], 1],
  ])("is an undocumented type that %s", (_, deliveries, kept) => {
    expect(withoutPings(deliveries).filter((each) => each !== completed)).toHaveLength(kept);
  });
});

describe("the date of an event", () => {
  it.each([
    ["2026-03-04T05:06:07Z", 0, "holds"],
    ["2026-03-04T05:07:00.123+00:00", 0, "holds"],
    ["2026-03-04T06:06:07Z", 0, "breach"],
    ["2026-03-04T06:06:07Z", 3_600_000, "holds"],
    ["1970-01-01T00:00:00Z", 3_600_000, "breach"],
    ["2026-03-04T05:06:07,905Z", 0, "holds"],
    ["20260304T050607,123Z", 0, "holds"],
    ["20260304T060607,123Z", 0, "breach"],
    ["2026-W10-3T05:06:07Z", 0, "holds"],
    ["2026-063T06:06:07Z", 0, "breach"],
    ["2026-03-04T05Z", 0, "unproven"],
    ["soon", 0, "unproven"],
  ])("%s, with a clock offset of %i ms: %s", (created, clockMs, expected) => {
    expect(judgeCreatedTime(evidenceWith({ created }, clockMs)).kind).toBe(expected);
  });

  it("is not judged without a `Date` header", () => {
    expect(judgeCreatedTime(evidenceWith({ created: "1970-01-01T00:00:00Z" }, 0, [])).kind).toBe("unproven");
  });
});
