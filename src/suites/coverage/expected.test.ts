import { describe, expect, it } from "vitest";

import { sumOf } from "../../base/numbers.ts";
import type { LimitTest } from "../../run/probe.ts";
import { need } from "../../run/skip-reason.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import type { Target } from "../../target/target.ts";
import { type PairCounts, expectedPairCounts, type PlannedRun } from "./count-pairs.ts";
import { reachOf } from "./plan.ts";

const clock = { advance: () => Promise.resolve(), settleMs: 0, agentsFollow: true };
const onRealClock = aTarget("http://127.0.0.1:9/v1", {
  keys: { pro: aKey({ tier: "pro" }) },
  agents: { answering: "echo" },
});
const withClock = { ...onRealClock, clock };
const allTested: readonly LimitTest[] = (["minute used up", "hour used up"] as const).map((state) => ({
  state,
  tier: "pro",
  result: { kind: "ran" },
}));
const unbounded = { requests: Number.POSITIVE_INFINITY, executions: Number.POSITIVE_INFINITY };
const expected = (target: Target, more: Partial<PlannedRun> = {}): PairCounts =>
  expectedPairCounts({ target, readOnly: false, seed: 1, tested: allTested, left: unbounded, ...more });
const needsIn = ({ cut }: PairCounts): unknown[] => cut.map(({ needs }) => needs);

describe("the pairs that a plan expects", () => {
  it("are all within reach of a target with a test clock, by any seed", () => {
    for (const seed of [1, 20300205]) {
      const { coveredCount, uncovered } = expected(withClock, { seed });
      expect([coveredCount, uncovered]).toEqual([reachOf(withClock, false).pairs.size, []]);
    }
  });

  it("are fewer on a real clock, and a test clock would bring the others", () => {
    const found = expected(onRealClock);
    expect(found.coveredCount).toBeLessThan(expected(withClock).coveredCount);
    expect(needsIn(found)).toContainEqual(need("clock"));
  });

  it.each<[string, Partial<PlannedRun>, unknown]>([
    ["the bound of requests", { left: { ...unbounded, requests: 20 } }, need("maxRequests")],
    ["the bound of executions", { left: { ...unbounded, executions: 3 } }, need("maxExecutions")],
    ["a selection without tests of limits", { tested: [] }, need("selection")],
    ["read-only mode", { readOnly: true }, need("readOnly")],
  ])("name what is cut by %s", (_, more, needs) => {
    const found = expected(withClock, more);
    expect(found.uncovered).toEqual([]);
    expect(needsIn(found)).toContainEqual(needs);
    expect(found.coveredCount + sumOf(found.cut.map(({ pairs }) => pairs))).toBe(found.total);
  });
});
