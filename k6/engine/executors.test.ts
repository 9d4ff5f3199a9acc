import { describe, expect, it } from "vitest";

import { scenarios } from "../../scenarios/all.ts";
import { atSpeed } from "../../scenarios/scenario.ts";
import { publishedTiers } from "../../src/spec/tiers.ts";
import { bursters, executorsOf, shareOf } from "./executors.ts";
import { all, each, planOf } from "./expected.ts";
import type { Flow, Shape } from "./flows.ts";

const flowOf = (shape: Shape, other: Partial<Flow> = {}): Flow => ({
  name: "one",
  key: "main",
  operation: { kind: "invoke", agent: "answering" },
  shape,
  afterSeconds: 1.5,
  leaveAfterMs: null,
  ...other,
});

describe("a flow becomes an executor of k6", () => {
  it.each([
    {
      shape: { kind: "at once", requests: 150 } as const,
      executor: { executor: "per-vu-iterations", vus: 8, iterations: 1 },
    },
    {
      shape: { kind: "in turn", requests: 13 } as const,
      executor: { executor: "per-vu-iterations", vus: 1, iterations: 13 },
    },
    {
      shape: { kind: "shared", atOnce: 5, requests: 105 } as const,
      executor: { executor: "shared-iterations", vus: 5, iterations: 105 },
    },
    {
      shape: { kind: "closed", atOnce: 5, seconds: 3 } as const,
      executor: { executor: "constant-vus", vus: 5, duration: "3000ms" },
    },
    {
      shape: { kind: "paced", perSecond: 30, seconds: 2.5 } as const,
      executor: {
        executor: "constant-arrival-rate",
        rate: 30,
        timeUnit: "1s",
        duration: "2500ms",
        preAllocatedVUs: 60,
      },
    },
    {
      shape: { kind: "paced", perSecond: 0.15, seconds: 75 } as const,
      executor: { executor: "constant-arrival-rate", rate: 9, timeUnit: "60s", duration: "75000ms" },
    },
    {
      shape: { kind: "after refusal", rounds: 2 } as const,
      executor: { executor: "per-vu-iterations", vus: 1, iterations: 1 },
    },
  ])("$shape: $executor.executor", ({ shape, executor }) => {
    expect(executorsOf([flowOf(shape)])).toMatchObject({ one: { ...executor, startTime: "1500ms" } });
  });

  it.each([1, 2, 3, 15, 43, 81, 600])("and the shares of a burst of %i add up to it", (requests) => {
    const shares = Array.from({ length: bursters(requests) }, (_, burster) => shareOf(requests, burster));

    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(requests);
    expect(Math.min(...shares)).toBeGreaterThan(0);
  });

  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "of %s under a name that k6 takes",
    (_, scenario) => {
      const limits = scenario.enterpriseLimits ?? publishedTiers.pro;
      const flows = scenario.flows(limits).map((flow) => atSpeed(flow, scenario.speed(limits)));
      const names = Object.keys(executorsOf(flows));

      expect(names).toHaveLength(flows.length);
      expect(names.filter((name) => !/^[A-Za-z0-9_-]+$/.test(name))).toStrictEqual([]);
    },
  );
});

describe("what a script expects by hand", () => {
  const flows = [
    flowOf({ kind: "in turn", requests: 3 }, { name: "after-1" }),
    flowOf({ kind: "closed", atOnce: 1, seconds: 1 }, { name: "after-2" }),
    flowOf({ kind: "in turn", requests: 9 }, { name: "other" }),
  ];
  const plan = planOf(flows, publishedTiers.free, false);

  it("of all requests of some flows", () => {
    expect(all(plan, "after-")).toMatchObject({ "after-1": { atLeast: 3, atMost: 3 }, "after-2": { atLeast: 1 } });
    expect(Object.keys(all(plan))).toHaveLength(3);
  });

  it("of each of some flows", () => {
    expect(each(plan, "after-", { atLeast: 0, atMost: 4 })).toStrictEqual({
      "after-1": { atLeast: 0, atMost: 4 },
      "after-2": { atLeast: 0, atMost: 4 },
    });
  });

  it("of a minute, where the burst allowance is a part of it, and where it comes on top", () => {
    expect(plan.minute).toStrictEqual({ atLeast: 10, atMost: 10 });
    expect(planOf(flows, publishedTiers.free, true).minute).toStrictEqual({ atLeast: 10, atMost: 20 });
  });
});
