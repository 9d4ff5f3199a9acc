import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { suite } from "../../run/judge/check.ts";
import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { event, exchange, sample, streamed } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { idsOfCountedReads, spareKeyChecks } from "./spare-key-checks.ts";
import type { SpareMinute } from "./spare-key.ts";
import type { SpareSlotsEvidence } from "./spare-key-slots.ts";

const spareKey = suite("Spare key", spareKeyChecks);

interface Reported {
  readonly status?: number;
  readonly limit?: number;
  readonly remaining?: number;
  readonly resetAfter?: number;
}

/** A request at a second of the run, with what its headers report. */
const at = (second: number, { status = 200, limit = 10, remaining = 5, resetAfter = 30 }: Reported = {}): Sample =>
  sampleOf(
    exchange({
      sentMs: second * 1000,
      status,
      headers: [
        ["X-RateLimit-Limit", String(limit)],
        ["X-RateLimit-Remaining", String(remaining)],
        ["X-RateLimit-Reset-After", String(resetAfter)],
      ],
    }),
  );
const refusedAt = (second: number, reported: Reported = {}): Sample =>
  at(second, { status: 429, remaining: 0, ...reported });

const used = (
  samples: readonly Sample[],
  othersMs: readonly number[] = [],
  limits: TierLimits = publishedTiers.free,
) => ({
  used: {
    keys: [
      {
        key: "second",
        othersMs,
        history: {
          limits,
          isFresh: false,
          hasClock: false,
          samples,
          stragglers: [],
          lookalikes: [],
          countedRead: null,
        },
      },
    ],
  },
  spare: { isSpare: true },
});

const others = Array.from({ length: 10 }, (_, index) => 100_000 + index);
const shortfall = [at(60, { remaining: 9 }), refusedAt(123)];

/** The evidence of three requests with a partner key, between two of the spare key with these values of `Remaining`. */
const partnerUsed = (from: number, to: number): SpareMinute => {
  const withRemaining = (remaining: number): Exchange =>
    exchange({
      headers: [
        ["X-RateLimit-Limit", "10"],
        ["X-RateLimit-Remaining", String(remaining)],
        ["X-RateLimit-Reset", "1772600820"],
      ],
    });
  return {
    isSpare: false,
    between: {
      before: withRemaining(from),
      partner: [exchange(), exchange(), exchange()],
      after: withRemaining(to),
    },
  };
};

describe("a key that was used up", () => {
  it.each([
    [
      "LIM-9/every key",
      "is refused for the minute while others are used",
      used(shortfall, [122_500, ...others]),
      "breach",
    ],
    ["LIM-2/every key", "is refused for the minute while others are used", used(shortfall, others), "holds"],
    ["LIM-2/every key", "is refused for the minute with requests left", used(shortfall), "breach"],
    ["LIM-9/every key", "is refused for the minute with requests left", used(shortfall), "holds"],
    ["LIM-2/every key", "had one request left", used([at(60, { remaining: 1 }), refusedAt(61)]), "holds"],
    [
      "LIM-2/every key",
      "is refused for the hour",
      used([at(60, { remaining: 9 }), refusedAt(123, { limit: 100 })]),
      "holds",
    ],
    [
      "LIM-2/every key",
      "is refused for a slot",
      used([at(60, { remaining: 9 }), refusedAt(123, { remaining: 8 })]),
      "holds",
    ],
    [
      "LIM-2/every key",
      "may have a smaller burst limit of its own",
      used(shortfall, [], { ...publishedTiers.free, burst: 5 }),
      "holds",
    ],
    ["LIM-1/every key", "admits 20 in a minute", used(Array.from({ length: 20 }, () => at(70))), "holds"],
    [
      "LIM-1/every key",
      "admits 21 in each of two bursts at other phases",
      used([...Array.from({ length: 21 }, () => at(70)), refusedAt(71), ...Array.from({ length: 21 }, () => at(135))]),
      "breach",
    ],
    ["LIM-9/every key", "falls by its own request", { used: { keys: [] }, spare: partnerUsed(9, 8) }, "inapplicable"],
    ["LIM-9/every key", "falls by those of another", { used: { keys: [] }, spare: partnerUsed(9, 5) }, "breach"],
    ["LIM-1/every key", "does not exist", { used: { keys: [] }, spare: { isSpare: false } }, "inapplicable"],
  ])("%s: it %s", (id, _, evidence, expected) => {
    expect(judged(spareKey, id, evidence)).toBe(expected);
  });
});

const ok = (): Exchange => exchange({ sentMs: 3000, endMs: 3050 });
const refused = (remaining = 5): Exchange =>
  exchange({ status: 429, headers: [["X-RateLimit-Remaining", String(remaining)]] });
const start = event("start", { message: "Go." }, 1100);
const chunks = [1200, 4000, 5000].map((ms) => event("chunk", { content: "x" }, ms));
const closed = (): Exchange => streamed([start, ...chunks], { ending: { kind: "closed by us" } });

const left = (more: object = {}): SpareSlotsEvidence => ({
  kind: "left",
  concurrent: 2,
  streams: [closed(), closed()],
  extra: refused(),
  isAnsweredMeanwhile: true,
  after: [ok()],
  reopened: [closed()],
  ended: { stream: ok(), afterStream: ok(), badInput: exchange({ status: 400 }), afterInput: ok() },
  ...more,
});
const ended = (more: object): SpareSlotsEvidence =>
  left({ ended: { ...(left() as { ended: object }).ended, ...more } });

describe("slots of a spare key", () => {
  it.each<[id: string, name: string, evidence: SpareSlotsEvidence, expected: string]>([
    ["LIM-18/spare key", "refuse one more request", left(), "holds"],
    ["LIM-18/spare key", "let one more request wait", left({ extra: ok(), isAnsweredMeanwhile: false }), "holds"],
    ["LIM-18/spare key", "admit one more request", left({ extra: ok() }), "breach"],
    ["LIM-6/spare key", "are two", left(), "holds"],
    ["LIM-6/spare key", "are one too few", left({ streams: [closed(), refused()] }), "breach"],
    ["LIM-6/spare key", "cannot be told from the rate", left({ streams: [closed(), refused(0)] }), "unproven"],
    ["SSE-27/spare key", "are free after the client has left", left(), "holds"],
    ["SSE-27/spare key", "are free some seconds later", left({ after: [refused(), refused(), ok()] }), "holds"],
    ["SSE-27/spare key", "stay held", left({ after: [refused()], ended: null }), "breach"],
    ["SSE-27/spare key", "stay held but one", ended({ stream: refused() }), "breach"],
    ["SSE-27/spare key", "are not observable", left({ extra: ok() }), "unproven"],
    ["SSE-27/spare key", "are refused for the rate", left({ after: [refused(0)], ended: null }), "unproven"],
    ["LIM-17/spare key, streams", "are free after a stream", left(), "holds"],
    ["LIM-17/spare key, streams", "stay held after a stream", ended({ afterStream: refused() }), "breach"],
    ["LIM-17/spare key, refused input", "are free after refused input", left(), "holds"],
    ["LIM-17/spare key, refused input", "stay held after refused input", ended({ afterInput: refused() }), "breach"],
    ["LIM-17/spare key, refused input", "saw no 400", ended({ badInput: ok() }), "unproven"],
    ["SSE-27/spare key", "need a slow stream", { kind: "fast stream", stream: closed() }, "unproven"],
    ["SSE-27/spare key", "are tested elsewhere", { kind: "not needed", reason: "" }, "inapplicable"],
  ])("%s: they %s", (id, _, evidence, expected) => {
    expect(judged(spareKey, id, evidence)).toBe(expected);
  });
});

type Sent = readonly [kind: Sample["kind"], remaining: number];

/** Requests one after the other; the id is the position. */
const sentInOrder = (sent: readonly Sent[], overlapMs = 0): Sample[] =>
  sent.map(([kind, remaining], index) =>
    sample({
      id: String(index),
      kind,
      status: 200,
      sentMs: 10 * index,
      headMs: 10 * index + 5 + overlapMs,
      endMs: 10 * index + 5 + overlapMs,
      limit: 100,
      remaining,
      reset: 1_772_604_000,
      resetAfter: 3000,
    }),
  );

describe("reads that were observed to count", () => {
  it.each<[name: string, sent: readonly Sent[], counted: readonly string[]]>([
    [
      "fall by one with the read and with the next request",
      [
        ["invoke", 9],
        ["other", 8],
        ["invoke", 7],
      ],
      ["1"],
    ],
    [
      "may be free where the header is written before a request counts",
      [
        ["invoke", 9],
        ["other", 8],
        ["invoke", 8],
      ],
      [],
    ],
    [
      "include the first list if another list counts",
      [
        ["list", 9],
        ["usage", 8],
        ["list", 7],
        ["invoke", 6],
      ],
      ["1", "2", "0"],
    ],
    [
      "leave out the first list if a list was free",
      [
        ["list", 9],
        ["invoke", 8],
        ["list", 8],
        ["invoke", 7],
        ["list", 6],
        ["invoke", 5],
      ],
      ["4"],
    ],
  ])("%s", (_, sent, counted) => {
    expect(idsOfCountedReads(sentInOrder(sent))).toEqual(counted);
  });

  it("are unknown if requests overlap", () => {
    const sent = [
      ["invoke", 9],
      ["usage", 8],
      ["invoke", 7],
    ] as const;
    expect(idsOfCountedReads(sentInOrder(sent, 20))).toEqual([]);
  });
});
