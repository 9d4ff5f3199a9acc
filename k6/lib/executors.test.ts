import { describe, expect, it } from "vitest";

import { scenarios } from "../../scenarios/all.ts";
import {
  admissionPlan,
  allAdmitted,
  atSpeed,
  eachAdmitted,
  type Flow,
  type TrafficShape,
} from "../../scenarios/scenario.ts";
import { publishedTiers } from "../../src/spec/tiers.ts";
import { burstUsers, executorsOf, burstShareOf } from "./executors.ts";

const flowOf = (shape: TrafficShape, other: Partial<Flow> = {}): Flow => ({
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
    const shares = Array.from({ length: burstUsers(requests) }, (_, burster) => burstShareOf(requests, burster));

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

describe("the admitted requests of a script that is started by hand", () => {
  const flows = [
    flowOf({ kind: "in turn", requests: 3 }, { name: "after-1" }),
    flowOf({ kind: "closed", atOnce: 1, seconds: 1 }, { name: "after-2" }),
    flowOf({ kind: "in turn", requests: 9 }, { name: "other" }),
  ];
  const plan = admissionPlan(flows, publishedTiers.free, false);

  it("can be all requests of the flows with a prefix", () => {
    expect(allAdmitted(plan, "after-")).toMatchObject({ "after-1": { min: 3, max: 3 }, "after-2": { min: 1 } });
    expect(Object.keys(allAdmitted(plan))).toHaveLength(3);
  });

  it("can have the same bounds for the flows with a prefix", () => {
    const bounds = { min: 0, max: 4 };
    expect(eachAdmitted(plan, "after-", bounds)).toStrictEqual({ "after-1": bounds, "after-2": bounds });
  });

  it("are a minute's number, to which BURST_ADDS adds the burst allowance", () => {
    expect(plan.minute).toStrictEqual({ min: 10, max: 10 });
    expect(admissionPlan(flows, publishedTiers.free, true).minute).toStrictEqual({ min: 10, max: 20 });
  });

  it("cannot have bounds for flows that do not exist", () => {
    expect(() => allAdmitted(plan, "before-")).toThrow(/starts with "before-"/);
  });
});
