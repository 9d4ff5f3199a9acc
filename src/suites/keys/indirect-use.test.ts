import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { indirectKeyChecks, cachedResponseChecks } from "./indirect-use.ts";

const suite = { title: "Keys", checks: [...cachedResponseChecks, ...indirectKeyChecks] };
const kindOf = (id: string, evidence: unknown): string => judgeBy(suite, id, evidence).kind;

const ok = exchange({ method: "GET", json: {} });
const refused = (status: number): Exchange =>
  exchange({ method: "GET", status, json: { error: { code: "NO", message: "No.", status } } });
const requestsOf = (kind: string, response: Exchange) => ({
  requests: [{ kind, endpoint: "health", exchange: response }],
});

describe("a key that is used right after a good call of the same path", () => {
  const kind = "an expired key";
  const after = (response: Exchange) => ({ requests: [{ kind, endpoint: "health", good: ok, exchange: response }] });
  it.each<[string, Exchange, Exchange, string]>([
    ["is rejected", refused(401), refused(401), "holds"],
    ["gets a response from a cache", ok, refused(401), "breach"],
    ["is accepted in other requests, too, which is AUTH-4 alone", ok, ok, "inapplicable"],
    ["meets a limit", refused(429), refused(401), "inapplicable"],
  ])("%s", (_, response, usual, expected) => {
    const evidence = { cached: after(response), ordinary: requestsOf(kind, usual) };
    expect(kindOf("AUTH-4/after a good call", evidence)).toBe(expected);
  });
});

describe("a key of one agent that reads the deliveries, or an operation, of another", () => {
  it.each<[string, { control: Exchange; read: Exchange } | null, string]>([
    ["is refused", { control: ok, read: refused(403) }, "holds"],
    ["finds no such webhook", { control: ok, read: refused(404) }, "holds"],
    ["reads them", { control: ok, read: ok }, "breach"],
    ["is refused as the main key is", { control: refused(404), read: refused(404) }, "unproven"],
    ["has no such webhook", null, "inapplicable"],
  ])("%s", (_, tried, expected) => {
    expect(kindOf("KEY-6/deliveries of another agent", tried)).toBe(expected);
    expect(kindOf("KEY-6/operation of another agent", tried)).toBe(expected);
  });
});

describe("a key of another address in a signed request", () => {
  it.each<[string, Exchange, Exchange, string]>([
    ["is refused", refused(403), refused(403), "holds"],
    ["is let in by its signature", ok, refused(403), "breach"],
    ["is let in without a signature, too, which is KEY-7 alone", ok, ok, "inapplicable"],
  ])("%s", (_, signed, plain, expected) => {
    const tried = { requests: [{ kind: "a key of another address", endpoint: "usage", exchange: plain }] };
    expect(kindOf("KEY-7/signed", { tried, signing: { signed } })).toBe(expected);
  });
});
