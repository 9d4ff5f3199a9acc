import type { Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime } from "./traffic.ts";

/**
 * A closed loop for longer than the other scenarios: what grows or slows down with each request shows. k6 is busier than the server
 * in a closed loop, so that its times would be its own; autocannon is not.
 */
export const soak: Scenario = {
  name: "soak",
  title: "memory and latency do not drift under an even load",
  claims: ["LIM-2", "HDR-1"],
  tiers: ["enterprise"],
  engines: ["autocannon"],
  enterpriseLimits: {
    perHour: 20_000_000,
    perMinute: 5_000_000,
    concurrent: 50,
    burst: 5_000_000,
    tokensPerMonth: 1_000_000_000,
  },
  needs: [],
  flows: (limits) => [flow("even", invoke, { kind: "closed", atOnce: Math.min(2, halfOfSlots(limits)), seconds: 8 })],
  speed: realTime,
  seconds: () => 9,
};
