import { describe, expect, it } from "vitest";

import { countBySecond, maxKeptSamples } from "./second-counts.ts";
import { histogramsOf, mergeHistograms, percentileUs } from "./latency-histogram.ts";
import { type LoadEvidence, loadEvidenceSchema } from "../evidence/load-evidence.ts";
import { mergeEvidence } from "./merge.ts";
import { evidenceOf, sample } from "./testing/samples.ts";

const first = evidenceOf([sample({ sentMs: 1000, remaining: 9 }), sample({ sentMs: 3000, remaining: 7 })], {
  segments: ["0:1/2"],
  startedAt: "2026-03-04T05:06:07.000Z",
  durationMs: 1000,
});
const second = evidenceOf([sample({ sentMs: 2000, remaining: 8 })], {
  segments: ["1/2:1"],
  startedAt: "2026-03-04T05:06:07.500Z",
  durationMs: 1000,
  generator: { planned: 2, sent: 1, dropped: 1, late: 3, busiest: 0.7 },
});

describe("evidence of several processes", () => {
  const merged = mergeEvidence([second, first], 0);

  it("is one history in order of sending", () => {
    expect(merged.requests.map(({ remaining }) => remaining)).toEqual([9, 8, 7]);
    expect(merged.segments).toEqual(["1/2:1", "0:1/2"]);
  });

  it("adds up the counts of the generators and keeps the highest CPU share", () => {
    expect(merged.generator).toEqual({ planned: 4, sent: 3, dropped: 1, late: 3, busiest: 0.7 });
  });

  it("spans from the first start to the last end", () => {
    expect(merged.startedAt).toBe("2026-03-04T05:06:07.000Z");
    expect(merged.durationMs).toBe(1500);
  });

  it("holds all latencies", () => {
    expect(merged.latency.admitted.count).toBe(3);
  });

  it("has no CPU share if one generator has none", () => {
    const unknown = { ...second, generator: { ...second.generator, busiest: null } };
    expect(mergeEvidence([first, unknown], 0).generator.busiest).toBeNull();
  });

  it("keeps only counts if one part has only counts, without duplicates", () => {
    const long = { ...second, requests: [], summary: countBySecond(second.requests) };
    const both = mergeEvidence([first, long], 0);
    expect(both.requests).toEqual([]);
    expect(both.summary).toEqual(countBySecond([...first.requests, ...second.requests]));
  });

  it("keeps the measurements that only one part has", () => {
    const ledger = { before: 1, after: 2 };
    expect(mergeEvidence([first, { ...second, ledger }], 0).ledger).toEqual(ledger);
  });

  it.each<[string, readonly LoadEvidence[], RegExp]>([
    ["nothing at all", [], /no evidence/],
    ["another scenario", [first, { ...second, scenario: "burst" }], /scenario differs/],
    ["another tier", [first, { ...second, tier: "pro" }], /tier differs/],
    ["the same part twice", [first, first], /segment 0:1\/2 is there twice/],
  ])("is refused: %s", (_, parts, message) => {
    expect(() => mergeEvidence(parts, 0)).toThrow(message);
  });

  it("is what the schema describes", () => {
    expect(loadEvidenceSchema.parse(JSON.parse(JSON.stringify(merged)))).toEqual(merged);
  });
});

describe("latency histograms", () => {
  const of = (...ms: readonly number[]) =>
    histogramsOf(ms.map((each) => sample({ sentMs: 1000, headMs: 1000 + each }))).admitted;

  it("tell 200s, 429s and all others apart, and leave requests without an answer out", () => {
    const { admitted, refused, other } = histogramsOf(
      [200, 201, 429, 500, 404, null].map((status) => sample({ status })),
    );
    expect([admitted.count, refused.count, other.count]).toEqual([2, 1, 2]);
  });

  it("merge into the histogram of all", () => {
    const merged = mergeHistograms([of(1, 2, 3), of(100), of()]);
    expect(merged).toEqual(of(1, 2, 3, 100));
  });

  it("are right to three digits", () => {
    expect(percentileUs(of(1.234, 5.678, 9.876), 50) / 5678).toBeCloseTo(1, 2);
    expect(percentileUs(of(), 99)).toBe(0);
  });
});

describe("the summary of a long run", () => {
  it("counts each kind of answer per flow, key and second of the target", () => {
    const slots = countBySecond([
      sample({ date: 7 }),
      sample({ date: 7, status: 429, tokens: null, remaining: -1 }),
      sample({ date: 7, status: 500, reset: null }),
      sample({ status: null, limit: null, remaining: null, date: null, endMs: 7999 }),
      sample({ date: 8, remaining: 11 }),
      sample({ date: 7, key: "second" }),
    ]);
    expect(slots).toEqual([
      expect.objectContaining({ second: 7, key: "main", admitted: 1, refused: 1, failed: 1, unanswered: 1 }),
      expect.objectContaining({ second: 7, key: "second", admitted: 1 }),
      expect.objectContaining({ second: 8, key: "main", admitted: 1 }),
    ]);
    expect(slots[0]).toEqual(expect.objectContaining({ tokens: 6, lastEndMs: 7999 }));
    expect(slots[0]?.heads).toEqual([
      { status: 200, answered: 1, lacking: 0, malformed: 0, negative: 0, aboveLimit: 0 },
      { status: 429, answered: 1, lacking: 0, malformed: 0, negative: 1, aboveLimit: 0 },
      { status: 500, answered: 1, lacking: 1, malformed: 0, negative: 0, aboveLimit: 0 },
    ]);
    expect(slots[2]?.heads).toEqual([
      { status: 200, answered: 1, lacking: 0, malformed: 0, negative: 0, aboveLimit: 1 },
    ]);
  });

  it("replaces requests beyond the limit of kept samples", () => {
    const half = Array.from({ length: maxKeptSamples / 2 + 1 }, () => sample());
    const parts = [evidenceOf(half, { segments: ["0:1/2"] }), evidenceOf(half, { segments: ["1/2:1"] })];
    const merged = mergeEvidence(parts, 0);
    expect(merged.requests).toEqual([]);
    expect(merged.summary[0]?.admitted).toBe(maxKeptSamples + 2);
  });
});
