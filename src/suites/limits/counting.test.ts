import { describe, expect, it } from "vitest";

import type { Exchange, Header } from "../../evidence/exchange.ts";
import { suite } from "../../run/judge/check.ts";
import { type AllowanceResponses, countingChecks } from "./counting.ts";
import { event, exchange, streamed, unanswered } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";

const counting = suite("Counting", countingChecks);

const showing = (remaining: number, limit = 100): readonly Header[] => [
  ["X-RateLimit-Limit", String(limit)],
  ["X-RateLimit-Remaining", String(remaining)],
  ["X-RateLimit-Reset", "1800000060"],
  ["X-RateLimit-Reset-After", "60"],
];
const left = (remaining: number, limit?: number): Exchange => exchange({ headers: showing(remaining, limit) });
const stream = (remaining: number): Exchange =>
  streamed([event("start", {}), event("chunk", {}), event("done", {})], { headers: showing(remaining) });

const counted = (more: Partial<AllowanceResponses> = {}): AllowanceResponses => ({
  first: left(99),
  before: left(98),
  streams: [stream(97)],
  afterStreams: left(96),
  health: [left(96)],
  afterHealth: left(95),
  strangers: [exchange({ status: 401 })],
  afterStrangers: left(94),
  spelled: [left(93), exchange({ status: 401 })],
  afterSpelled: left(92),
  later: null,
  lost: [],
  ...more,
});

const twoKeys = (before: number, after: number, limit?: number) => ({
  before: left(before),
  between: [left(50), left(49), left(48)],
  after: left(after, limit),
  lost: [],
});

describe("what draws on an allowance", () => {
  it.each<[id: string, name: string, evidence: unknown, kind: string]>([
    ["LIM-9", "another key's use does not show", twoKeys(9, 8), "holds"],
    ["LIM-9", "another key's use shows", twoKeys(9, 5), "breach"],
    ["LIM-9", "the answers speak of different windows", twoKeys(9, 8, 10), "unproven"],
    ["LIM-11", "a stream is one request", counted(), "holds"],
    ["LIM-11", "each chunk is one", counted({ afterStreams: left(90) }), "breach"],
    [
      "LIM-11",
      "a stream is none",
      counted({ afterStreams: left(97), streams: [1, 2, 3, 4].map(() => stream(98)) }),
      "breach",
    ],
    ["LIM-11", "no stream", counted({ streams: [] }), "unproven"],
    ["LIM-11", "one that was lost counts, too", counted({ afterStreams: left(95), lost: [unanswered()] }), "unproven"],
    ["LIM-23", "strangers count for nothing", counted(), "holds"],
    ["LIM-23", "strangers are charged to the key", counted({ afterStrangers: left(91) }), "breach"],
    ["LIM-23", "a stranger is let in", counted({ strangers: [left(94)] }), "unproven"],
    ["LIM-25", "one spelling is taken, on the same allowance", counted(), "holds"],
    ["LIM-25", "no other spelling is taken", counted({ spelled: [exchange({ status: 401 })] }), "holds"],
    ["LIM-25", "another spelling has its own", counted({ spelled: [left(99)], afterSpelled: left(93) }), "breach"],
    ["HLT-16", "health counts for nothing", counted(), "holds"],
    ["HLT-16", "health counts", counted({ afterHealth: left(92) }), "breach"],
    ["HLT-16", "health does not answer", counted({ health: [exchange({ status: 500 })] }), "unproven"],
  ])("%s, %s", (id, _, evidence, kind) => {
    expect(judged(counting, id, evidence)).toBe(kind);
  });
});
