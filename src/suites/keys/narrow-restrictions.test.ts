import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { closestAgent, narrowRestrictionChecks } from "./narrow-restrictions.ts";
import { keyOfSameEnd, sameEndCheck } from "../authentication/unusual-keys.ts";

const suite = { title: "Keys", checks: [...narrowRestrictionChecks, sameEndCheck] };
const kindOf = (id: string, evidence: unknown): string => judgeBy(suite, id, evidence).kind;

const ok = exchange({ method: "GET", json: {} });
const refused = (status: number): Exchange =>
  exchange({ method: "GET", status, json: { error: { code: "NO", message: "No.", status } } });
const requestsOf = (kind: string, endpoint: string, response: Exchange) => ({
  requests: [{ kind, endpoint, exchange: response }],
});

describe("a read-only key that writes right after a read", () => {
  const kind = "a read-only key";
  it.each<[string, Exchange, Exchange, string]>([
    ["is refused", refused(403), refused(403), "holds"],
    ["is let in", ok, refused(403), "breach"],
    ["may also write otherwise, which is KEY-5 alone", ok, ok, "inapplicable"],
    ["meets a limit", refused(429), refused(403), "unproven"],
  ])("%s", (_, response, usual, expected) => {
    const before = { ...requestsOf(kind, "webhooks", usual), invoked: null };
    expect(kindOf("KEY-5/right after a read", { after: requestsOf(kind, "webhooks", response), before })).toBe(
      expected,
    );
  });
});

describe("a key of one agent with an agent of a similar id", () => {
  const kind = "a key of another agent";
  it.each<[string, Exchange, Exchange, string]>([
    ["is refused", refused(403), refused(403), "holds"],
    ["is let in", ok, refused(403), "breach"],
    ["is let in to others, too, which is KEY-6 alone", ok, ok, "inapplicable"],
  ])("%s", (_, response, usual, expected) => {
    const closest = { control: ok, ...requestsOf(kind, "health", response) };
    const tried = { other: requestsOf(kind, "health", usual) };
    expect(kindOf("KEY-6/similar id", { closest, tried })).toBe(expected);
  });

  it.each<[readonly string[], string | null]>([
    [["zulu", "elder", "echo", "echo-2"], "echo-2"],
    [["zulu", "elder"], "elder"],
    [["zulu", "echo"], null],
  ])("of %j is tried with %s", (ids, expected) => {
    expect(closestAgent(ids, ["echo"])).toBe(expected);
  });
});

describe("a further key of another address", () => {
  it.each<[string, Exchange[], string]>([
    ["is refused", [refused(403)], "holds"],
    ["is let in", [refused(403), ok], "breach"],
    ["is not there", [], "inapplicable"],
  ])("%s", (_, responses, expected) => {
    const requests = responses.flatMap((each) => requestsOf("a key of another address", "usage", each).requests);
    expect(kindOf("KEY-7/every key", { requests })).toBe(expected);
  });
});

describe("a key that shares its end with the main key", () => {
  it.each<[string, Exchange, Exchange, string]>([
    ["is refused", refused(401), refused(401), "holds"],
    ["is taken for the main key", ok, refused(401), "breach"],
    ["is accepted as other wrong keys are, which is AUTH-3 alone", ok, ok, "inapplicable"],
  ])("%s", (_, response, usual, expected) => {
    const ordinary = requestsOf("a wrong key", "health", usual);
    expect(kindOf("AUTH-3/same end", { tried: { good: ok, exchange: response }, ordinary })).toBe(expected);
  });

  it("keeps prefix, length and end, and is not made of a short key", () => {
    const key = "ah_0123456789abcdefghijklmnop";
    const other = keyOfSameEnd(key) ?? "";
    expect(other).toMatch(/^ah_.{14}efghijklmnop$/);
    expect(other).not.toBe(key);
    expect(keyOfSameEnd("ah_0123456789")).toBeNull();
  });
});
