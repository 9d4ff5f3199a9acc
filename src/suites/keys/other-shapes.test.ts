import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { event, exchange, streamed, unanswered } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { shapeChecks } from "./other-shapes.ts";

const suite = { title: "Keys", checks: shapeChecks };
const kindOf = (clause: string, evidence: unknown): string => judgeBy(suite, `${clause}/other shapes`, evidence).kind;

const ok = exchange({ status: 201, json: {} });
const refused = (status: number): Exchange =>
  exchange({ status, json: { error: { code: "NO", message: "No.", status } } });
const requestsOf = (kind: string, endpoint: string, ...responses: readonly Exchange[]) => ({
  requests: responses.map((each) => ({ kind, endpoint, exchange: each, shape: "without `secret`" })),
});

describe("a read-only key that writes in another shape", () => {
  const kind = "a read-only key";
  it.each<[string, readonly Exchange[], Exchange, string]>([
    ["is refused", [refused(403)], refused(403), "holds"],
    ["is refused, once because of a missing field", [refused(400), refused(403)], refused(403), "holds"],
    ["succeeds once", [refused(403), ok], refused(403), "breach"],
    ["also writes in the usual shape, which is KEY-5 alone", [ok], ok, "inapplicable"],
    ["meets a limit", [refused(429)], refused(403), "unproven"],
    ["gets no response", [unanswered()], refused(403), "unproven"],
    ["was not tried", [], refused(403), "inapplicable"],
  ])("%s", (_, responses, usual, expected) => {
    const reader = { ...requestsOf(kind, "alerts", usual), invoked: null };
    expect(kindOf("KEY-5", { tried: requestsOf(kind, "alerts", ...responses), reader })).toBe(expected);
  });

  it.each<[string, Exchange, Exchange, string]>([
    ["is refused", refused(403), refused(403), "holds"],
    ["succeeds", ok, refused(403), "breach"],
    ["may invoke, too", ok, ok, "inapplicable"],
  ])("and invokes: %s", (_, response, invoked, expected) => {
    expect(kindOf("KEY-5", { tried: requestsOf(kind, "invoke", response), reader: { requests: [], invoked } })).toBe(
      expected,
    );
  });
});

describe("a key of one agent that writes to another in another shape", () => {
  const kind = "a key of another agent";
  const failing = streamed([event("start", { message: "" }), event("error", { error: "No.", code: "FORBIDDEN" })]);
  const streaming = streamed([event("start", { message: "" }), event("chunk", { content: "x" })]);
  it.each<[string, Exchange, string]>([
    ["is refused", refused(403), "holds"],
    ["is refused in the stream", failing, "unproven"],
    ["gets content", streaming, "breach"],
  ])("%s", (_, response, expected) => {
    const agents = { other: requestsOf(kind, "stream", refused(403)) };
    expect(kindOf("KEY-6", { tried: requestsOf(kind, "stream", response), agents })).toBe(expected);
  });

  it("is not judged if no other agent is known", () => {
    expect(kindOf("KEY-6", { tried: requestsOf(kind, "stream", streaming), agents: { other: null } })).toBe(
      "inapplicable",
    );
  });
});
