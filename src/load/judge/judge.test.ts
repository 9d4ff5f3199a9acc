import { describe, expect, it } from "vitest";

import { scenarioNamed, scenarios, type Scenario } from "../scenarios.ts";
import { randomOf } from "../../rules/limits/admission/testing/random.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import type { LoadEvidence, StreamSummary } from "../../evidence/load-evidence.ts";
import { countBySecond } from "../second-counts.ts";
import type { LoadFinding } from "./finding.ts";
import { claimableClauses, judgeLoad } from "./judge.ts";
import { simulateRun } from "./testing/simulated-run.ts";
import { defaultDecisions, defaultTerms, simulatedServer } from "./testing/simulated-server.ts";

const limits = publishedTiers.pro;

function runOf(name: string): { readonly evidence: LoadEvidence; readonly scenario: Scenario } {
  const scenario = scenarioNamed(name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  const random = randomOf(1);
  const server = simulatedServer(limits, defaultTerms, defaultDecisions(limits), random);
  const world = {
    limits,
    tier: "pro",
    engine: "k6",
    speed: scenario.speed(limits),
    latencyMs: 1,
    lossShare: 0,
    skewMs: 0,
    drift: 0,
    dates: "fresh",
    isFresh: true,
  } as const;
  const evidence = simulateRun(scenario, server, world, random);
  return { evidence: { ...evidence, server: { rssBytes: [] } }, scenario };
}

const kindsOf = (findings: readonly LoadFinding[], clause: string): string[] =>
  findings.filter((one) => one.check.startsWith(`${clause}/`)).map(({ kind }) => kind);

it("has a judge for every claim of every scenario", () => {
  expect(scenarios.flatMap(({ claims }) => claims).filter((clause) => !claimableClauses.has(clause))).toEqual([]);
});

describe("a key of which usage was read before the load", () => {
  const { evidence, scenario } = runOf("usage-ledger");
  const firstMs = Math.min(...evidence.requests.map(({ sentMs }) => sentMs));
  const ledger = { before: null, after: null, readsAfter: 1 };

  it.each([
    [1, "as the reading counts", { ledger }, "holds"],
    [2, "which nothing explains", { ledger }, "breach"],
    [2, "as the evidence names two requests", { ledger, sentBefore: 2 }, "holds"],
    [1, "although no reading was kept", { ledger: null, sentBefore: 1 }, "holds"],
  ])("may show %i less than the load used up, %s", (less, _, before, kind) => {
    // On a busy machine, a stream may be in flight during the whole run.
    const requests = evidence.requests.map((each) => ({
      ...each,
      remaining: each.remaining === null ? null : each.remaining - less,
      sentMs: each.flow === "streams" ? firstMs : each.sentMs,
    }));
    expect(kindsOf(judgeLoad({ ...evidence, ...before, requests }, scenario), "LIM-11")).toEqual([kind]);
  });
});

describe("streams without the four headers", () => {
  const { evidence, scenario } = runOf("held-streams");

  it.each([
    ["are not judged by them where the client left and the engine tells no head", { left: true }, "unproven"],
    ["are not judged by them where they broke off and the engine tells no head", { tokens: null }, "unproven"],
    ["lack them where their head is known by its date", { date: 1_772_600_767 }, "breach"],
    ["lack them where they came to their end", { tokens: 12 }, "breach"],
  ])("%s", (_, changes, kind) => {
    const bare = { ...noRateLimitInfo, date: null, flaws: null, left: false, ...changes };
    const requests = evidence.requests.map((each) =>
      each.flow === "streams" ? { ...each, status: 200, ...bare } : each,
    );
    expect(kindsOf(judgeLoad({ ...evidence, requests }, scenario), "HDR-6")).toEqual([kind]);
    const lacking = countBySecond(requests.filter(({ flow }) => flow === "streams")).flatMap(({ heads }) => heads);
    expect(lacking.some((head) => head.lacking > 0)).toBe(kind === "breach");
  });
});

describe("a header that is no number", () => {
  const { evidence, scenario } = runOf("far-over");

  it.each([200, 429])("breaks HDR-9 alone, on a response %i", (status) => {
    const changed = evidence.requests.findIndex((each) => each.status === status);
    const malformed = [{ name: "remaining" as const, actual: 'X-RateLimit-Remaining: "abc"' }];
    const requests = evidence.requests.map((each, at) =>
      at === changed ? { ...each, remaining: null, malformed } : each,
    );
    const found = judgeLoad({ ...evidence, requests }, scenario).filter(({ kind }) => kind === "breach");
    expect(found.map(({ clause }) => clause)).toEqual(["HDR-9"]);
    expect(found[0]).toMatchObject({ actual: expect.stringContaining('"abc"') as string });
    const heads = countBySecond(requests).flatMap((each) => each.heads);
    expect(heads.reduce((sum, head) => sum + head.malformed, 0)).toBe(1);
    expect(heads.every(({ lacking }) => lacking === 0)).toBe(true);
  });
});

describe("a run that proves nothing about the target", () => {
  const { evidence, scenario } = runOf("far-over");
  const judged = (generator: Partial<LoadEvidence["generator"]>): LoadFinding[] =>
    judgeLoad({ ...evidence, generator: { ...evidence.generator, ...generator } }, scenario);

  it("has no verdict if requests were dropped", () => {
    const findings = judged({ dropped: 3 });
    expect(findings[0]).toMatchObject({ check: "load/generator/far-over", kind: "unproven" });
    expect(findings.every(({ kind }) => kind === "unproven")).toBe(true);
  });

  it("has no verdict on times if the generator was busy", () => {
    const findings = judged({ busiest: 0.95 });
    expect(kindsOf(findings, "load/slow-refusals")).toEqual(["unproven"]);
    expect(kindsOf(findings, "HDR-9")).toEqual(["holds"]);
  });

  it("proves no counts if segments are missing", () => {
    expect(kindsOf(judgeLoad({ ...evidence, segments: ["0:1/2"] }, scenario), "LIM-1")).toEqual(["unproven"]);
    expect(kindsOf(judgeLoad({ ...evidence, segments: ["1/2:1", "0:1/2"] }, scenario), "LIM-1")).toEqual(["holds"]);
  });
});

it("judges the exact summary of a long run as well", () => {
  const { evidence, scenario } = runOf("far-over");
  const findings = judgeLoad({ ...evidence, requests: [], summary: countBySecond(evidence.requests) }, scenario);
  expect(kindsOf(findings, "LIM-1")).toEqual(["holds"]);
  const more = countBySecond(evidence.requests).map((slot) => ({
    ...slot,
    admitted: slot.admitted + slot.refused,
    refused: 0,
  }));
  expect(kindsOf(judgeLoad({ ...evidence, requests: [], summary: more }, scenario), "LIM-1")).toEqual(["breach"]);
});

describe("the exact summary of a long run", () => {
  const { evidence, scenario } = runOf("far-over");
  const cases: readonly (readonly [
    name: string,
    status: number,
    what: "lacking" | "malformed" | "negative" | "aboveLimit",
    string,
  ])[] = [
    ["an admitted answer without headers", 200, "lacking", "HDR-1"],
    ["a refusal without headers", 429, "lacking", "HDR-4"],
    ["a 503 without headers", 503, "lacking", "HDR-5"],
    ["a negative header", 200, "negative", "HDR-9"],
    ["a header that is no number", 200, "malformed", "HDR-9"],
    ["more left than the limit", 200, "aboveLimit", "HDR-11"],
  ];
  it.each(cases)("blames %s by its own clause alone", (_, status, what, clause) => {
    const none = { answered: 1, lacking: 0, malformed: 0, negative: 0, aboveLimit: 0 };
    const slots = countBySecond(evidence.requests);
    const of = slots.find(({ refused }) => refused > 0);
    const changed = slots.map((slot) =>
      slot === of ? { ...slot, heads: [...slot.heads, { ...none, status, [what]: 1 }] } : slot,
    );
    const found = judgeLoad({ ...evidence, requests: [], summary: changed }, scenario);
    const red = found.filter(({ kind }) => kind === "breach").map((each) => each.clause);
    expect(red).toEqual([clause]);
  });
});

describe("streams", () => {
  const { evidence, scenario } = { ...runOf("far-over"), scenario: scenarioNamed("stream-integrity") };
  const whole: StreamSummary = {
    flow: "slow",
    sentMs: 0,
    status: 200,
    firstEventMs: 5,
    endMs: 100,
    longestGapMs: 10,
    sequence: ["start", "chunk", "done"],
    chunks: 9,
    indexes: "rising",
    ending: "whole",
    totalTokens: 9,
  };
  const cases: readonly (readonly [string, Partial<StreamSummary>, readonly string[]])[] = [
    ["whole", {}, []],
    ["left in the middle", { sequence: ["start", "chunk"], ending: "left" }, []],
    ["ended by an error", { sequence: ["start", "chunk", "error"] }, []],
    ["without an end", { sequence: ["start", "chunk"] }, ["SSE-5"]],
    ["with two ends", { sequence: ["start", "chunk", "done", "error"] }, ["SSE-5"]],
    ["with a chunk after its end", { sequence: ["start", "chunk", "done", "chunk"] }, ["SSE-5"]],
    ["that starts twice", { sequence: ["start", "chunk", "start", "chunk", "done"] }, ["SSE-4"]],
    ["with indexes that do not rise", { indexes: "broken" }, ["SSE-11"]],
    ["without its tokens", { totalTokens: null }, ["SSE-13"]],
    ["with a name of its own", { sequence: ["start", "chunk", "ping", "done"] }, ["SSE-2"]],
  ];
  it.each(cases)("%s", (_, change, broken) => {
    if (scenario === undefined) throw new Error("no scenario stream-integrity");
    const streams = [...Array.from({ length: 50 }, () => whole), { ...whole, ...change }];
    const found = judgeLoad({ ...evidence, streams }, scenario).filter(
      ({ kind, clause }) => kind === "breach" && clause?.startsWith("SSE"),
    );
    expect(found.map(({ clause }) => clause)).toEqual(broken);
  });
});

describe("the measurements around the load", () => {
  const usage = (requests: number, tokens: number) => ({
    period: "2026-11-01T00:00:00Z",
    requests: { used: requests, limit: 1_000_000, remaining: 1_000_000 - requests },
    tokens: { used: tokens, limit: 2_000_000, remaining: 2_000_000 - tokens },
  });
  const { evidence, scenario } = runOf("usage-ledger");
  const admitted = evidence.requests.filter(({ status }) => status === 200).length;
  const tokens = evidence.requests.reduce((sum, one) => sum + (one.tokens ?? 0), 0);
  it.each([
    ["grows by what was admitted", admitted, tokens, []],
    ["loses an update", admitted - 1, tokens, ["USE-7"]],
    ["loses tokens", admitted, tokens - 12, ["USE-8"]],
    ["counts twice", 2 * admitted + 5, tokens, ["USE-7"]],
  ] as const)("a ledger that %s", (_, requests, used, broken) => {
    const findings = judgeLoad(
      { ...evidence, ledger: { before: usage(7, 40), after: usage(7 + requests, 40 + used) } },
      scenario,
    );
    expect(findings.filter(({ kind }) => kind === "breach").map(({ clause }) => clause)).toEqual(broken);
  });

  it.each([
    [
      "all came, some twice",
      { received: admitted + 3, badSignatures: 0, distinctRequests: admitted, duplicates: 3 },
      [],
    ],
    [
      "one in a thousand is lost",
      { received: admitted - 1, badSignatures: 0, distinctRequests: admitted - 1, duplicates: 0 },
      ["HOOK-8"],
    ],
    [
      "one is badly signed",
      { received: admitted, badSignatures: 1, distinctRequests: admitted, duplicates: 0 },
      ["HOOK-21"],
    ],
  ])("deliveries: %s", (_, deliveries, broken) => {
    const storm = scenarioNamed("webhook-storm");
    if (storm === undefined) throw new Error("no scenario webhook-storm");
    const invokes = evidence.requests.filter(({ flow }) => flow === "invokes").length;
    const shifted = { ...deliveries, distinctRequests: deliveries.distinctRequests - admitted + invokes };
    const findings = judgeLoad({ ...evidence, deliveries: shifted }, storm);
    expect(findings.filter(({ kind }) => kind === "breach").map(({ clause }) => clause)).toEqual(broken);
  });

  it.each([
    ["steady", (index: number) => 100 + (index % 3), []],
    ["growing for ever", (index: number) => 100 + 20 * index, ["load/memory-drift/soak"]],
    ["warming up", (index: number) => (index < 8 ? 50 + 20 * index : 210), []],
  ] as const)("memory: %s", (_, megabytes, broken) => {
    const soak = scenarioNamed("soak");
    if (soak === undefined) throw new Error("no scenario soak");
    const rssBytes = Array.from({ length: 30 }, (_reading, index) => megabytes(index) * 1024 * 1024);
    const findings = judgeLoad({ ...evidence, server: { rssBytes } }, soak);
    expect(findings.filter(({ kind }) => kind === "breach").map(({ check }) => check)).toEqual(broken);
  });
});

describe("a target whose `Date` lags", () => {
  const { evidence, scenario } = runOf("minute-limit");
  const ofReset = (speed: number, late: Partial<LoadEvidence["requests"][number]>): string[] => {
    const requests = evidence.requests.map((each): LoadEvidence["requests"][number] => {
      const date = Math.floor(each.sentMs / 1000);
      return { ...each, date: date - 5, reset: date + 30, resetAfter: 30, ...late };
    });
    return kindsOf(judgeLoad({ ...evidence, speed, requests }, scenario), "HDR-14");
  };

  it("has correct resets by our own clock", () => {
    expect(ofReset(1, {})).toEqual(["holds"]);
  });

  it("has wrong resets if they agree with no clock", () => {
    expect(ofReset(1, { resetAfter: 50 })).toEqual(["breach"]);
    expect(ofReset(1, { resetAfter: 50, date: null })).toEqual(["unproven"]);
  });

  it("is judged only by `Date` if its clock is faster", () => {
    expect(ofReset(10, {})).toEqual(["breach"]);
  });
});
