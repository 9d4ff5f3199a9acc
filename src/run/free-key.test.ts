import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { clauseOf } from "../interface/clauses.ts";
import { suites } from "../suites/all.ts";
import type { Lane } from "./probe.ts";
import { runSuites, type RunResult } from "./run.ts";
import { type PassingTime, startPassingTime } from "../embedded/testing/passing-time.ts";
import { aKey, aTarget } from "./testing/targets.ts";

type Judged = Extract<RunResult, { kind: "judged" }>;

/** All that a person may have: an address, and one Free key, of which the run is not even told the tier. */
describe("a run with a base URL and one Free key", () => {
  let passing: PassingTime;
  let result: Judged;
  const ended: { readonly lane: Lane; readonly refusedBy: number }[] = [];

  beforeAll(async () => {
    passing = await startPassingTime();
    const free = passing.reference.keys.find(
      ({ tier, expiresInSeconds }) => tier === "free" && expiresInSeconds === null,
    );
    const judged = await runSuites({
      target: aTarget(passing.reference.baseUrl, { keys: { key: aKey({ key: free?.key ?? "" }) } }),
      suites,
      maxRequests: 1000,
      maxWaitMs: 120_000,
      signal: new AbortController().signal,
      timers: passing.timers,
      onProbe: ({ planned }) => ended.push({ lane: planned.probe.lane, refusedBy: passing.refused() }),
    });
    if (judged.kind !== "judged") throw new Error(JSON.stringify(judged.sentence));
    result = judged;
  });
  afterAll(() => passing.close());

  it("finds nothing broken", () => {
    const wrong = result.judgements.filter(({ finding }) => finding.kind === "breach" || finding.kind === "error");
    expect(wrong.map(({ check, finding }) => [check.id, finding])).toEqual([]);
    expect(result.stopped).toBeNull();
  });

  it("has its limits tested first, and gets no 429 by what comes after", () => {
    const lanes = ended.map(({ lane }) => lane);
    expect(lanes.lastIndexOf("limits")).toBeGreaterThan(lanes.indexOf("shared"));
    expect(lanes[0]).toBe("limits");
    const others = ended.filter(({ lane }) => lane === "shared" || lane === "alone");
    expect(new Set(others.map(({ refusedBy }) => refusedBy)).size).toBe(1);
  });

  it("sends no more than 80 requests", () => {
    expect(result.requests).toBeLessThanOrEqual(80);
  });

  it("waits for no more than two minutes in all", () => {
    expect(result.waitedMs).toBeLessThanOrEqual(120_000);
  });

  it("exercises most of what must be, on so little", () => {
    const proven = result.judgements.filter(
      ({ check, finding }) =>
        clauseOf(check.clause).level === "must" && (finding.kind === "holds" || finding.kind === "follows"),
    );
    expect(new Set(proven.map(({ check }) => check.clause)).size).toBeGreaterThanOrEqual(leastMustClauses);
  });
});

/** A ratchet: what it was when it was last looked at. */
const leastMustClauses = 108;
