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
/** The reset of a window that has just begun. The reset alone does not say whether a minute ended before. */
const resetSeconds = startMs / 1000 + 60;

interface ReportedBurst {
  readonly admitted: number;
  /** The `retry_after` of each refusal; `null` for none. */
  readonly retryAfterSeconds: number | null;
  readonly refusedRemaining?: number;
  /** Lower bound of `Remaining` in admitted responses. */
  readonly minRemaining?: number;
  /** Seconds after which one more request is sent and admitted. */
  readonly againAfterSeconds?: number;
  /** Number of requests that counted in the previous minute and were answered in this one. */
  readonly ofMinuteBefore?: number;
  /** Whether the first request gets its response after all other admitted requests, and reports them as used. */
  readonly answersFirstLast?: boolean;
  /** Time between two requests of a connection. Default: 2 ms. */
  readonly apartMs?: number;
  /** Whether the 50th and the 51st response report the same `Remaining`. */
  readonly hasEqualRemaining?: boolean;
}

/**
 * Makes the evidence of a burst over five connections, with six refusals at its end. The burst is so fast that slots
 * which are freed late may explain the refusals.
 */
function burstOf(burst: ReportedBurst): LoadEvidence {
  const at = (index: number): Partial<LoadSample> => {
    const sentMs = startMs + Math.floor(index / 5) * (burst.apartMs ?? 2) + 1;
    const reset = { limit: limits.perMinute, reset: resetSeconds, resetAfter: 60 };
    return { flow: "burst", sentMs, headMs: sentMs + 1.5, endMs: sentMs + 1.6, date: startMs / 1000, ...reset };
  };
  const remainingAt = (index: number): number => {
    const counted = burst.hasEqualRemaining === true && index === 50 ? index : index + 1;
    const used = Math.max(0, counted - (burst.ofMinuteBefore ?? 0));
    return Math.max(burst.minRemaining ?? 0, limits.perMinute - used);
  };
  const ordinary = Array.from({ length: burst.admitted }, (_, index) =>
    sample({ ...at(index), remaining: remainingAt(index) }),
  );
  const admitted =
    burst.answersFirstLast === true
      ? ordinary.with(0, sample({ ...at(burst.admitted - 1), sentMs: startMs + 1, remaining: 0 }))
      : ordinary;
  const refused = Array.from({ length: 6 }, (_, index) =>
    sample({
      ...at(burst.admitted + index),
      status: 429,
      remaining: burst.refusedRemaining ?? 0,
      retryAfterSeconds: burst.retryAfterSeconds,
    }),
  );
  const laterMs = startMs + (burst.againAfterSeconds ?? 0) * 1000;
  const again = sample({ ...at(0), sentMs: laterMs, headMs: laterMs + 1, endMs: laterMs + 1, remaining: 0 });
  const flows = [flow("burst", invoke, { kind: "shared", atOnce: 5, requests: burst.admitted + 6 })];
  return evidenceOf([...admitted, ...refused, ...(burst.againAfterSeconds === undefined ? [] : [again])], {
    scenario: "burst",
    tier: "pro",
    limits,
    flows,
  });
}

const breachedClauses = (burst: ReportedBurst): (string | null)[] => {
  if (scenario === undefined) throw new Error("no scenario burst");
  return judgeLoad(burstOf(burst), scenario).flatMap(({ kind, clause }) => (kind === "breach" ? [clause] : []));
};

describe("a burst on a fresh key whose refusals say that the minute is used up", () => {
  it.each([
    ["the minute's number", 100],
    ["the minute's and the burst's", 200],
  ])("keeps its limit with %s", (_, admitted) => {
    expect(breachedClauses({ admitted, retryAfterSeconds: 60 })).toEqual([]);
  });

  it.each([101, 104, 150, 190])("breaks it with %i admitted, which is neither", (admitted) => {
    expect(breachedClauses({ admitted, retryAfterSeconds: 60 })).toContain("LIM-1");
  });

  it.each([1, 3])("holds if %i more counted in the previous minute and were answered in this one", (count) => {
    expect(breachedClauses({ admitted: 100 + count, retryAfterSeconds: 60, ofMinuteBefore: count })).toEqual([]);
  });

  it("holds if the request of the previous minute is the last to be answered", () => {
    const burst = { admitted: 101, retryAfterSeconds: 60, ofMinuteBefore: 1, answersFirstLast: true };
    expect(breachedClauses(burst)).toEqual([]);
  });

  it("breaks it although two responses report the same remaining requests, if the requests are apart", () => {
    const burst = { admitted: 104, retryAfterSeconds: 60, hasEqualRemaining: true, apartMs: 10 };
    expect(breachedClauses(burst)).toContain("LIM-1");
  });

  it("breaks it with one more than those", () => {
    expect(breachedClauses({ admitted: 102, retryAfterSeconds: 60, ofMinuteBefore: 1 })).toContain("LIM-1");
  });

  it("breaks it with more than both, whatever the refusals say", () => {
    expect(breachedClauses({ admitted: 210, retryAfterSeconds: 1 })).toContain("LIM-1");
  });
});

describe("refusals below the limit, of a tier whose tokens a month are not known", () => {
  const usage = (remaining: number) => ({ tokens: { used: 60 - remaining, limit: 60, remaining } });
  const custom = { ...limits, tokensPerMonth: null };

  const inTurn = (retryAfterSeconds: number, more: Partial<LoadEvidence>): LoadEvidence => {
    const requests = [200, 200, 429, 429].map((status, index) => {
      const sentMs = startMs + index * 3000;
      const times = { sentMs, headMs: sentMs + 2, endMs: sentMs + 3, date: Math.floor(sentMs / 1000) };
      const window = { limit: limits.perMinute, remaining: 98, reset: resetSeconds, resetAfter: 60 - index * 3 };
      return sample({ flow: "burst", status, ...times, ...window, ...(status === 429 && { retryAfterSeconds }) });
    });
    const flows = [flow("burst", invoke, { kind: "in turn", requests: 4 })];
    return evidenceOf(requests, { scenario: "burst", tier: "pro", limits: custom, flows, ...more });
  };

  it.each<[string, number, Partial<LoadEvidence>, readonly string[]]>([
    ["are for the tokens if they ask to wait for days", 900_000, {}, []],
    ["are for the tokens if usage shows none left", 60, { ledger: { before: null, after: usage(0) } }, []],
    ["break it if usage shows some left", 60, { ledger: { before: null, after: usage(5) } }, ["LIM-2"]],
    ["break it if the number is known", 900_000, { limits }, ["LIM-2"]],
  ])("%s", (_, retryAfterSeconds, more, clauses) => {
    if (scenario === undefined) throw new Error("no scenario burst");
    const evidence = inTurn(retryAfterSeconds, more);
    const broken = judgeLoad(evidence, scenario).flatMap(({ kind, clause }) => (kind === "breach" ? [clause] : []));
    expect(broken).toEqual(clauses);
  });
});

describe("a refusal that may be for another limit proves nothing", () => {
  it.each<[string, ReportedBurst]>([
    ["a bucket may have a token in a second", { admitted: 102, retryAfterSeconds: 1 }],
    ["it gives no time", { admitted: 102, retryAfterSeconds: null }],
    ["its time is not that of the reset", { admitted: 102, retryAfterSeconds: 30 }],
    ["it shows room, so that it was for a slot", { admitted: 102, retryAfterSeconds: 60, refusedRemaining: 40 }],
    ["the admitted responses report room to the last", { admitted: 102, retryAfterSeconds: 60, minRemaining: 40 }],
    ["a request is admitted long before", { admitted: 102, retryAfterSeconds: 60, againAfterSeconds: 20 }],
  ])("if %s", (_, burst) => {
    expect(breachedClauses(burst)).not.toContain("LIM-1");
  });
});
