import { describe, expect, it } from "vitest";

import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeKeyHistory, maxAdmittedWithin, type RunKeyHistory, tokensMayBeExhausted } from "./key-history.ts";

let count = 0;

/** A request at a time of the target's clock, in seconds. */
function at(seconds: number, status: number, more: Partial<Sample> = {}): Sample {
  count += 1;
  const clockMs = seconds * 1000;
  return {
    id: `x${count}`,
    kind: "invoke",
    sentMs: count,
    headMs: count + 0.5,
    endMs: count + 0.5,
    sentClockMs: clockMs,
    headClockMs: clockMs,
    endClockMs: clockMs,
    status,
    ...noRateLimitInfo,
    ...more,
  };
}

const times = (many: number, seconds: number, status: number) =>
  Array.from({ length: many }, () => at(seconds, status));

/** The same samples, later in real time. */
const later = (ms: number, samples: readonly Sample[]): Sample[] =>
  samples.map((each) => ({
    ...each,
    sentMs: each.sentMs + ms,
    headMs: each.headMs + ms,
    endMs: each.endMs + ms,
  }));

const used = (samples: readonly Sample[], more: Partial<RunKeyHistory> = {}): RunKeyHistory => ({
  limits: publishedTiers.free,
  isFresh: true,
  hasClock: true,
  samples,
  readsCount: false,
  stragglers: [],
  lookalikes: [],
  ...more,
});

describe("what was sent on a key of ten a minute", () => {
  it.each([
    {
      name: "ten, a refusal that stays, and ten in the next minute",
      samples: () => [
        ...times(10, 20, 200),
        at(20, 429),
        at(50, 429),
        ...times(10, 81, 200),
        at(81, 429),
        at(110, 429),
      ],
      kind: "explained",
    },
    {
      name: "a refusal for slots that are held in real time, right after a move of the clock, and gone a moment later",
      samples: () => [...times(3, 20, 200), at(90, 429), ...times(1, 90, 200)],
      kind: "explained",
    },
    {
      name: "a refusal right after a move of the clock that stays",
      samples: () => [...times(3, 20, 200), at(90, 429), ...later(2000, [at(90, 429), at(200, 200)])],
      kind: "breach",
    },
    {
      name: "a refusal half a minute after nine",
      samples: () => [...times(9, 20, 200), ...later(2000, [at(50, 429), at(81, 200)])],
      kind: "breach",
    },
    {
      name: "a health call among nine and the refusal",
      samples: () => [...times(9, 20, 200), at(20, 200, { kind: "health" }), at(50, 429), at(81, 200)],
      kind: "explained",
    },
    {
      name: "nine at once, and a refusal that stays",
      samples: () => [...times(9, 20, 200), ...later(1600, [at(20, 429), at(81, 200)])],
      kind: "breach",
    },
    {
      name: "nine at once, and a refusal that is gone when late slots are back",
      samples: () => [...times(9, 20, 200), at(20, 429), ...later(1000, [at(20, 200), at(20, 429), at(81, 200)])],
      kind: "explained",
    },
    { name: "far more than a minute's worth at once", samples: () => times(45, 20, 200), kind: "breach" },
  ])("$name: $kind", ({ samples, kind }) => {
    expect(judgeKeyHistory(used(samples())).kind).toBe(kind);
  });

  it("lets a request in another spelling explain a refusal", () => {
    const samples = [...times(9, 20, 200), at(50, 429), at(81, 200)];
    expect(judgeKeyHistory(used(samples, { lookalikes: [at(20, 200)] })).kind).toBe("explained");
  });
});

describe("requests before the key was left idle", () => {
  const stragglers = times(2, 20, 200);
  const samples = later(100, [at(7400, 429), at(7401, 200)]);

  it("explain a refusal by slots that are given back late", () => {
    expect(judgeKeyHistory(used(samples)).kind).toBe("breach");
    expect(judgeKeyHistory(used(samples, { stragglers })).kind).toBe("explained");
  });

  it("explain nothing once their slots must be back", () => {
    const muchLater = later(5000, samples);
    expect(judgeKeyHistory(used(muchLater, { stragglers })).kind).toBe("breach");
  });
});

describe("the month's tokens", () => {
  it("may be used up while nothing was admitted after the last refusal", () => {
    expect(tokensMayBeExhausted(used([at(0, 200), at(1, 429)]))).toBe(true);
    expect(tokensMayBeExhausted(used([at(0, 429), at(1, 200)]))).toBe(false);
  });

  const days = { retryAfterSeconds: 900_000 };
  const custom = { ...publishedTiers.free, tokensPerMonth: null };
  const usage = (seconds: number, more: Partial<Sample> = {}): Sample => at(seconds, 200, { kind: "usage", ...more });
  const spent = (seconds: number): Sample => usage(seconds, { tokensSpent: true });

  it.each<[string, TierLimits, readonly Sample[], string]>([
    ["asks to wait for days", custom, [at(1, 429, days)], "explained"],
    ["asks to wait for an hour", custom, [at(1, 429, { retryAfterSeconds: 3600 })], "breach"],
    ["asks to wait for days, though the quota is known", publishedTiers.free, [at(1, 429, days)], "breach"],
    ["comes before usage shows none left", custom, [at(1, 429), spent(2)], "explained"],
    ["comes after usage shows none left", custom, [spent(0), at(1, 429)], "explained"],
    ["comes with usage that shows some left", custom, [usage(0), at(1, 429), usage(2)], "breach"],
    ["comes before others used them up", custom, [at(1, 429), at(2, 200), spent(3)], "breach"],
    [
      "comes before one that asks for no wait",
      custom,
      [at(1, 429, days), at(2, 200), ...later(4000, [at(3, 429)])],
      "breach",
    ],
  ])("of a quota judge a refusal that %s", (_, limits, samples, kind) => {
    const history = [at(0, 200), ...later(2000, samples), ...later(10_000, [at(2_600_000, 200)])];
    expect(judgeKeyHistory(used(history, { limits })).kind).toBe(kind);
  });

  it.each([
    [0, true],
    [1, undefined],
  ])("are seen in a usage report that shows %i left", (remaining, isSpent) => {
    const json = { tokens: { used: 60 - remaining, limit: 60, remaining } };
    expect(sampleOf(exchange({ method: "GET", path: "/usage", json })).tokensSpent).toBe(isSpent);
  });

  it("do not excuse a custom tier that admits too many", () => {
    const samples = [...times(45, 20, 200), at(20, 429, days)];
    expect(judgeKeyHistory(used(samples, { limits: custom })).kind).toBe("breach");
  });
});

describe("the most that were admitted in a span", () => {
  it("counts on the target's clock, and leaves health out", () => {
    const samples = [...times(3, 0, 200), at(30, 200, { kind: "health" }), ...times(2, 59, 200), at(90, 200)];
    expect(maxAdmittedWithin(samples, 60_000)).toBe(5);
  });
});
