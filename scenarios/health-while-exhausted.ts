import { allAdmitted, exactly, type Scenario } from "./scenario.ts";
import { flow, halfOfSlots, health, invoke, realTime } from "./traffic.ts";

/** Sends health requests before a key reaches its limit per minute, and while invokes get 429. */
export const healthWhileExhausted: Scenario = {
  name: "health-while-exhausted",
  title: "health answers 200 while invoke answers 429, and uses up nothing",
  sends: "health before, during and after the use of a minute's allowance",
  claims: ["HLT-15", "HLT-16", "LIM-2", "LIM-12", "HDR-7", "HLT-2", "HLT-3"],
  tiers: ["free", "pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => [
    flow("health-before", health, { kind: "in turn", requests: 100 }),
    flow("exhausting", invoke, { kind: "in turn", requests: limits.perMinute + 2 }, { afterSeconds: 0.7 }),
    flow(
      "health-during",
      health,
      { kind: "shared", atOnce: halfOfSlots(limits), requests: 200 },
      { afterSeconds: 1.5 },
    ),
    flow("still-exhausted", invoke, { kind: "in turn", requests: 3 }, { afterSeconds: 2.5 }),
  ],
  speed: realTime,
  seconds: () => 3,
  admitted: (plan) => ({
    ...allAdmitted(plan, "health"),
    exhausting: plan.minute,
    "still-exhausted": exactly(0),
  }),
};
