import { describe, expect, it } from "vitest";

import { sampleOf } from "../base/testing/test-scope.ts";
import { findPatch } from "../reference/catalogue.ts";
import { startFastForwardServer } from "../reference/testing/test-server.ts";
import type { Patch } from "../reference/patch.ts";
import { suites } from "../suites/all.ts";
import type { Judgement } from "./judge/judge-evidence.ts";
import { selectChecks } from "./plan/selection.ts";
import { runSuites } from "./run.ts";
import type { RunResult } from "./run-result.ts";
import { aKey, aTarget } from "./testing/values.ts";

type Judged = Extract<RunResult, { kind: "judged" }>;

interface TrialOptions {
  readonly maxRequests?: number;
  readonly maxWaitMs?: number;
  /** Clauses to test. Default: all. */
  readonly only?: readonly string[];
}

/** Runs with two Free keys on a real clock. The target file names no agent. */
async function runWithTwoKeys(
  patches: readonly Patch[] = [],
  { maxRequests = 1000, maxWaitMs = 120_000, only = [] }: TrialOptions = {},
): Promise<Judged> {
  const { reference, timers, close } = await startFastForwardServer(patches);
  try {
    const keys = ["free", "second"].map((name) => {
      const found = reference.keys.find((each) => each.name === name);
      return [name, aKey({ name, key: found?.key ?? "", tier: "free" })] as const;
    });
    const result = await runSuites({
      target: aTarget(reference.baseUrl, { keys: Object.fromEntries(keys) }),
      suites: selectChecks(suites, { only, skip: [] }),
      maxRequests,
      maxWaitMs,
      signal: new AbortController().signal,
      timers,
    });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    return result;
  } finally {
    await close();
  }
}

const patchOf = (kind: Patch["kind"], name: string): Patch => {
  const patch = findPatch(kind, name);
  if (patch === undefined) throw new Error(`there is no ${kind} ${name}`);
  return patch;
};

/**
 * On a busy machine, several events of a slow stream may arrive at once. The run then cannot test slots, so these tests
 * are retried.
 */
const onBusyMachines = { retry: 4 } as const;

const isNew = ({ check: { id } }: Judgement): boolean => /\/(every key|spare key)/.test(id);
const findingsOf = ({ judgements }: Judged, ...kinds: readonly string[]): string[] =>
  judgements.filter((each) => isNew(each) && kinds.includes(each.finding.kind)).map(({ check }) => check.id);

describe("a run with two keys, no roles and no test clock", () => {
  it("tries the limits on the second key within 150 requests and two minutes, and finds no breach", async () => {
    const result = await runWithTwoKeys();
    expect(result.judgements.filter(({ finding }) => ["breach", "error"].includes(finding.kind))).toEqual([]);
    expect(findingsOf(result, "holds")).toEqual(
      expect.arrayContaining(["LIM-1/every key", "LIM-2/every key", "LIM-9/every key"]),
    );
    expect(result.requests).toBeLessThanOrEqual(150);
    expect(result.waitedMs).toBeLessThanOrEqual(122_000);
  });

  it(
    "shows on the second key that slots are given back, with a slow stream of the listed agent",
    onBusyMachines,
    async () => {
      const result = await runWithTwoKeys([], { only: ["LIM-6", "LIM-17", "LIM-18", "SSE-27"] });
      expect(findingsOf(result, "holds")).toEqual([
        "LIM-18/spare key",
        "LIM-6/spare key",
        "SSE-27/spare key",
        "LIM-17/spare key, streams",
        "LIM-17/spare key, refused input",
      ]);
    },
  );

  it("leaves out what its bound of requests does not allow", async () => {
    const result = await runWithTwoKeys([], { maxRequests: 60 });
    expect(result.requests).toBeLessThanOrEqual(60);
    expect(findingsOf(result, "breach", "error")).toEqual([]);
  });

  it("finds an allowance that both keys share, although the headers hide it", async () => {
    const result = await runWithTwoKeys([patchOf("fault", "rolling-limits-shared-by-tier")]);
    expect(findingsOf(result, "breach")).toEqual(["LIM-9/every key"]);
  });

  // Only these checks run: the waits of other probes would advance the simulated clock while the streams are open.
  it.each<[fault: string, expected: readonly string[]]>([
    ["slot-back-with-the-head", ["LIM-18/spare key"]],
    ["one-slot-too-few", ["LIM-6/spare key"]],
    ["slot-late-on-disconnect", ["SSE-27/spare key"]],
    ["slot-late-on-second-disconnect", ["SSE-27/spare key"]],
  ])("finds the fault %s", onBusyMachines, async (name, expected) => {
    const only = ["LIM-6", "LIM-18", "SSE-27"];
    expect(findingsOf(await runWithTwoKeys([patchOf("fault", name)], { only }), "breach")).toEqual(expected);
  });

  it("finds one request too many in a minute", async () => {
    // On a busy machine, the second burst needs more waiting time.
    const result = await runWithTwoKeys([patchOf("fault", "one-too-many-a-minute")], { maxWaitMs: 180_000 });
    expect(findingsOf(result, "breach")).toEqual(["LIM-1/every key"]);
  });

  const legal = [
    "rolling-windows",
    "sliding-windows",
    "token-bucket",
    "burst-adds",
    "burst-adds-and-shows",
    "headers-of-hour-throughout",
    "concurrency-refusals-count",
    "refusals-count",
  ];
  it.each(sampleOf(legal, { of: 4 }))("finds no breach with the variant %s", async (name) => {
    expect(findingsOf(await runWithTwoKeys([patchOf("variant", name)]), "breach", "error")).toEqual([]);
  });
});
