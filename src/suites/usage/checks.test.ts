import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { usage } from "./checks.ts";

const counted = (used: number, limit: number) => ({ used, limit, remaining: limit - used });
const report = (fields: object = {}, sentMs = 1000): Exchange =>
  exchange({
    method: "GET",
    path: "/usage",
    sentMs,
    json: { period: "2026-03-01T00:00:00Z", requests: counted(1, 100), tokens: counted(50, 100_000), ...fields },
  });
const usageRequest = { method: "GET", path: "/usage" } as const;
const read = (usageExchange: Exchange) => ({ usage: usageExchange, limits: publishedTiers.free, quota: 100_000 });

describe("a usage report", () => {
  it.each([
    ["USE-1", "a report", report(), "holds"],
    ["USE-1", "answered 404", exchange({ status: 404 }), "breach"],
    ["USE-2", "a report", report(), "holds"],
    ["USE-2", "a period that is no instant", report({ period: "March" }), "breach"],
    ["USE-2", "a page of HTML", exchange({ ...usageRequest, text: "<html>" }), "unproven"],
    ["USE-3", "requests without what remains", report({ requests: { used: 1, limit: 2 } }), "breach"],
    [
      "USE-3",
      "in `data` of the envelope",
      exchange({ ...usageRequest, json: { status: "success", data: { requests: counted(1, 2) } } }),
      "holds",
    ],
    [
      "USE-3",
      "in `data.result` of the envelope",
      exchange({ ...usageRequest, json: { status: "success", data: { result: { requests: counted(1, 2) } } } }),
      "holds",
    ],
    ["USE-4", "tokens used in text", report({ tokens: { ...counted(1, 2), used: "1" } }), "breach"],
    ["USE-5", "a sum that is right", report(), "holds"],
    ["USE-5", "a remainder that is one off", report({ requests: { used: 3, limit: 10, remaining: 8 } }), "breach"],
    [
      "USE-5",
      "more used than the limit, nothing left",
      report({ tokens: { used: 12, limit: 10, remaining: 0 } }),
      "holds",
    ],
    ["USE-5", "more used than the limit, a negative remainder", report({ tokens: counted(12, 10) }), "breach"],
    ["USE-6", "the quota of the tier", report(), "holds"],
    ["USE-6", "a quota that is not the tier's", report({ tokens: counted(1, 10) }), "breach"],
    ["USE-9", "a report", report(), "observed"],
  ] as const)("%s: %s", (id, _case, given, expected) => {
    expect(judged(usage, id, read(given))).toBe(expected);
  });

  it.each([
    ["states the quota of its key's tier", report({ tokens: counted(1, 10_000_000) }, 1000), "holds"],
    ["states another quota", report({ tokens: counted(1, 1_000_000) }, 1000), "breach"],
    ["has no limit", report({ tokens: { used: 1 } }, 1000), "unproven"],
    ["states the quota of another key of the account", report({ tokens: counted(1, 100_000) }, 1000), "unproven"],
  ])("of any key: %s", (_, given, expected) => {
    const all = { exchanges: [{ ...given, key: "team" }, report({ tokens: counted(1, 7) })], validKeys: [] };
    expect(judged(usage, "USE-6/every key", { all, keys: { quotas: { team: 10_000_000, free: 100_000 } } })).toBe(
      expected,
    );
  });

  it("needs the tier for the quota", () => {
    expect(judged(usage, "USE-6", { ...read(report()), quota: null })).toBe("unproven");
  });
});

describe("usage that grows", () => {
  const sample = (fields: Partial<Sample> = {}): Sample => ({
    id: "s",
    kind: "invoke",
    sentMs: 2000,
    headMs: 2010,
    endMs: 2020,
    sentClockMs: 0,
    headClockMs: 0,
    endClockMs: 0,
    status: 200,
    ...noRateLimitInfo,
    limit: 10,
    remaining: 5,
    reset: 1,
    resetAfter: 30,
    retryAfterSeconds: null,
    date: null,
    ...fields,
  });
  const turn = exchange({ sentMs: 2000, json: { result: {}, usage: { total_tokens: 7 } } });
  const grown = (requests: number, tokens: number, extra: object = {}) => ({
    ...read(report()),
    later: report({ requests: counted(requests, 100), tokens: counted(tokens, 100_000) }, 3000),
    samples: [sample({ sentMs: 500, endMs: 600, kind: "other" }), sample()],
    turns: [turn],
    isFresh: true,
    ...extra,
  });

  it.each([
    ["USE-7", "one request more", grown(2, 57), "holds"],
    ["USE-7", "two requests more, one of them the reading", grown(3, 57), "holds"],
    ["USE-7", "as many as before", grown(1, 57), "breach"],
    ["USE-7", "far more than were sent", grown(40, 57), "breach"],
    ["USE-7", "far more than were sent, with a key that others use", grown(40, 57, { isFresh: false }), "holds"],
    ["USE-7", "fewer than before", grown(0, 57), "unproven"],
    [
      "USE-7",
      "as many, with a window that ended in between",
      grown(1, 57, { samples: [sample({ limit: 100, resetAfter: 1 })] }),
      "unproven",
    ],
    [
      "USE-7",
      "as many as before, by an invoke with 202",
      grown(1, 57, { samples: [sample({ status: 202 })] }),
      "breach",
    ],
    ["USE-7", "one request more, with no sample of it", grown(2, 57, { samples: [] }), "unproven"],
    ["USE-8", "the tokens of the turn", grown(2, 57), "holds"],
    ["USE-8", "no tokens more", grown(2, 50), "breach"],
    ["USE-8", "twice the tokens of the turn", grown(2, 64), "breach"],
    ["USE-8", "twice the tokens of the turn, with a key that others use", grown(2, 64, { isFresh: false }), "holds"],
    [
      "USE-8",
      "a turn that does not tell its tokens",
      grown(2, 50, { turns: [exchange({ json: { result: {} } })] }),
      "unproven",
    ],
    ["USE-8/all along", "a run that moves the clock", grown(2, 57, { allAlong: null }), "inapplicable"],
    ["USE-8/all along", "the tokens of the turn", grown(2, 57, { allAlong: grown(2, 57) }), "holds"],
    ["USE-8/all along", "no tokens more", grown(2, 57, { allAlong: grown(2, 50) }), "breach"],
  ] as const)("%s: %s", (id, _case, evidence, expected) => {
    expect(judged(usage, id, evidence)).toBe(expected);
  });
});
