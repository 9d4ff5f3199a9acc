import { describe, expect, it } from "vitest";

import { scenarioNamed } from "../scenarios.ts";
import { flow, invoke } from "../../../scenarios/traffic.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import type { LoadEvidence, LoadSample } from "../../evidence/load-evidence.ts";
import { evidenceOf, sample } from "../testing/samples.ts";
import { judgeLoad } from "./judge.ts";

const limits = publishedTiers.pro;
const scenario = scenarioNamed("burst");
const startMs = 1_700_000_000_000;
/** A fresh window's, so that by itself it does not say whether a minute ended just before. */
const resetSeconds = startMs / 1000 + 60;

interface Shown {
  readonly admitted: number;
  /** Of each refusal; `null` where it gives none. */
  readonly retryAfterSeconds: number | null;
  readonly refusedRemaining?: number;
  /** What the admitted show at least. */
  readonly leastRemaining?: number;
  /** A request is admitted so many seconds later. */
  readonly againAfterSeconds?: number;
  /** So many counted in the minute before, and were answered in this one. */
  readonly ofMinuteBefore?: number;
}

/** As fast as five connections send, with six refusals at the end: so fast that late slots may have been their reason. */
function burstOf(shown: Shown): LoadEvidence {
  const at = (index: number): Partial<LoadSample> => {
    const sentMs = startMs + Math.floor(index / 5) * 2 + 1;
    const reset = { limit: limits.perMinute, reset: resetSeconds, resetAfter: 60 };
    return { flow: "burst", sentMs, headMs: sentMs + 1.5, endMs: sentMs + 1.6, date: startMs / 1000, ...reset };
  };
  const remainingAt = (index: number): number => {
    const used = Math.max(0, index + 1 - (shown.ofMinuteBefore ?? 0));
    return Math.max(shown.leastRemaining ?? 0, limits.perMinute - used);
  };
  const admitted = Array.from({ length: shown.admitted }, (_, index) =>
    sample({ ...at(index), remaining: remainingAt(index) }),
  );
  const refused = Array.from({ length: 6 }, (_, index) =>
    sample({
      ...at(shown.admitted + index),
      status: 429,
      remaining: shown.refusedRemaining ?? 0,
      retryAfterSeconds: shown.retryAfterSeconds,
    }),
  );
  const laterMs = startMs + (shown.againAfterSeconds ?? 0) * 1000;
  const again = sample({ ...at(0), sentMs: laterMs, headMs: laterMs + 1, endMs: laterMs + 1, remaining: 0 });
  const flows = [flow("burst", invoke, { kind: "shared", atOnce: 5, requests: shown.admitted + 6 })];
  return evidenceOf([...admitted, ...refused, ...(shown.againAfterSeconds === undefined ? [] : [again])], {
    scenario: "burst",
    tier: "pro",
    limits,
    flows,
  });
}

const brokenBy = (shown: Shown): (string | null)[] => {
  if (scenario === undefined) throw new Error("no scenario burst");
  return judgeLoad(burstOf(shown), scenario).flatMap(({ kind, clause }) => (kind === "breach" ? [clause] : []));
};

describe("a burst on a fresh key whose refusals say that the minute is used up", () => {
  it.each([
    ["the minute's number", 100],
    ["the minute's and the burst's", 200],
  ])("keeps its limit with %s", (_, admitted) => {
    expect(brokenBy({ admitted, retryAfterSeconds: 60 })).toEqual([]);
  });

  it.each([101, 104, 150, 190])("breaks it with %i admitted, which is neither", (admitted) => {
    expect(brokenBy({ admitted, retryAfterSeconds: 60 })).toContain("LIM-1");
  });

  it.each([1, 3])("keeps it where %i more counted in the minute before, and are answered in this one", (count) => {
    expect(brokenBy({ admitted: 100 + count, retryAfterSeconds: 60, ofMinuteBefore: count })).toEqual([]);
  });

  it("breaks it with one more than those", () => {
    expect(brokenBy({ admitted: 102, retryAfterSeconds: 60, ofMinuteBefore: 1 })).toContain("LIM-1");
  });

  it("breaks it with more than both, whatever the refusals say", () => {
    expect(brokenBy({ admitted: 210, retryAfterSeconds: 1 })).toContain("LIM-1");
  });
});

describe("a refusal that does not surely speak of the minute proves nothing", () => {
  it.each<[string, Shown]>([
    ["a bucket may have a token in a second", { admitted: 102, retryAfterSeconds: 1 }],
    ["it gives no time", { admitted: 102, retryAfterSeconds: null }],
    ["its time is not that of the reset", { admitted: 102, retryAfterSeconds: 30 }],
    ["it shows room, so that it was for a slot", { admitted: 102, retryAfterSeconds: 60, refusedRemaining: 40 }],
    ["the admitted show room to the last", { admitted: 102, retryAfterSeconds: 60, leastRemaining: 40 }],
    ["a request is admitted long before", { admitted: 102, retryAfterSeconds: 60, againAfterSeconds: 20 }],
  ])("where %s", (_, shown) => {
    expect(brokenBy(shown)).not.toContain("LIM-1");
  });
});
