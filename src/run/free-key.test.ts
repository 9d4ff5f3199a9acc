import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { findPatch } from "../reference/catalogue.ts";
import { clauseOf } from "../spec/clauses.ts";
import { suites } from "../suites/all.ts";
import type { Stage } from "./probe.ts";
import { type RunOptions, runSuites } from "./run.ts";
import type { RunResult } from "./run-result.ts";
import { type FastForwardServer, startFastForwardServer } from "../reference/testing/test-server.ts";
import type { Target } from "../target/target.ts";
import { aKey, aTarget } from "./testing/values.ts";

type Judged = Extract<RunResult, { kind: "judged" }>;

/** The least that a user may have: an address and one Free key, whose tier the run does not know. */
describe("a run with a base URL and one free key", () => {
  let passing: FastForwardServer;
  let result: Judged;
  const ended: { readonly lane: Stage; readonly refusedBy: number }[] = [];

  beforeAll(async () => {
    passing = await startFastForwardServer();
    result = await judgedOf(passing, {}, ({ planned }) =>
      ended.push({ lane: planned.probe.stage, refusedBy: passing.countRefused() }),
    );
  });
  afterAll(() => passing.close());

  it("finds no breach", () => {
    expect(wrongIn(result)).toEqual([]);
    expect(result.stopped).toBeNull();
  });

  it("tests the limits first, and causes no 429 afterwards", () => {
    // Leaves out the stage `opening`, whose probe sends nothing without a test clock.
    const begun = ended.filter(({ lane }) => lane !== "opening");
    const stages = begun.map(({ lane }) => lane);
    expect(stages.lastIndexOf("limits")).toBeGreaterThan(stages.indexOf("shared"));
    // Before the limits, only probes run whose single request counts toward the minute.
    const later = begun.slice(stages.indexOf("limits"));
    const others = later.filter(({ lane }) => lane === "shared" || lane === "exclusive");
    expect(stages.indexOf("limits")).toBeLessThanOrEqual(2);
    expect(new Set(others.map(({ refusedBy }) => refusedBy)).size).toBe(1);
  });

  it("sends no more than 110 requests", () => {
    expect(result.requests).toBeLessThanOrEqual(110);
  });

  it("waits no more than two minutes in total", () => {
    expect(result.waitedMs).toBeLessThanOrEqual(120_000);
  });

  it("proves most must clauses with so few requests", () => {
    expect(mustsShown(result)).toBeGreaterThanOrEqual(minMustClauses.found);
  });
});

describe("a run with one free key, a named agent, and a receiver that the target reaches", () => {
  let passing: FastForwardServer;
  let result: Judged;

  beforeAll(async () => {
    passing = await startFastForwardServer();
    result = await judgedOf(passing, {
      agents: { answering: "echo", streaming: "echo" },
      agentSource: "named to answer",
      webhooks: { listen: "127.0.0.1:0", publicUrl: null, isReachabilityPromised: true, sources: null },
    });
  });
  afterAll(() => passing.close());

  it("sends at most 110 requests within 125 seconds, proves more than 130 must clauses, and finds no breach", () => {
    expect(wrongIn(result)).toEqual([]);
    expect(result.requests).toBeLessThanOrEqual(110);
    expect(result.waitedMs).toBeLessThanOrEqual(120_000);
    expect(mustsShown(result)).toBeGreaterThanOrEqual(minMustClauses.named);
  });

  it("causes at most forty agent executions, and records retries of deliveries", () => {
    expect(result.executions).toBeLessThanOrEqual(40);
    const retried = result.judgements.filter(({ check }) => check.id === "HOOK-26" || check.id === "HOOK-22");
    expect(retried.map(({ finding }) => finding.kind)).toEqual(["holds", "holds"]);
  });
});

describe("a run with one free key, and a minute that admits one request more than the tier and its burst", () => {
  it.each([0, 20, 45])(
    "finds it within 110 requests and 130 seconds, %i seconds into a minute",
    { retry: 3 },
    async (seconds) => {
      const patch = findPatch("fault", "one-too-many-a-minute");
      const server = await startFastForwardServer(patch === undefined ? [] : [patch]);
      await server.reference.advance(1000 * seconds);
      onTestFinished(() => server.close());
      const found = await judgedOf(server, {});
      expect(wrongIn(found).map(([id]) => id)).toEqual(["LIM-1/every key"]);
      expect(found.requests).toBeLessThanOrEqual(110);
      expect(found.waitedMs).toBeLessThanOrEqual(130_000);
    },
  );
});

async function judgedOf(
  { reference, timers }: FastForwardServer,
  target: Partial<Target>,
  onProbe: RunOptions["onProbe"] = () => {},
): Promise<Judged> {
  const free = reference.keys.find(({ tier, expiresInSeconds }) => tier === "free" && expiresInSeconds === null);
  const judged = await runSuites({
    target: aTarget(reference.baseUrl, { keys: { key: aKey({ key: free?.key ?? "" }) }, ...target }),
    suites,
    maxRequests: 1000,
    maxWaitMs: 120_000,
    signal: new AbortController().signal,
    timers,
    onProbe,
  });
  if (judged.kind !== "judged") throw new Error(JSON.stringify(judged.sentence));
  return judged;
}

const wrongIn = ({ judgements }: Judged) =>
  judgements
    .filter(({ finding }) => finding.kind === "breach" || finding.kind === "error")
    .map(({ check, finding }) => [check.id, finding]);

function mustsShown({ judgements }: Judged): number {
  const proven = judgements.filter(
    ({ check, finding }) =>
      clauseOf(check.clause).level === "must" && (finding.kind === "holds" || finding.kind === "follows"),
  );
  return new Set(proven.map(({ check }) => check.clause)).size;
}

/** Minimum numbers of MUST clauses that a run proves: `found` without a named agent, `named` with one. */
const minMustClauses = { found: 111, named: 130 } as const;
