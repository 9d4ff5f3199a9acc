import { allAdmitted, type Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime } from "./traffic.ts";

/**
 * Sends an even load for 8 seconds, to notice growing memory or latency. Does not use k6, whose high CPU use would
 * distort the latencies.
 */
export const soak: Scenario = {
  name: "soak",
  title: "memory and latency do not drift under an even load",
  sends: "a closed loop for longer than the others (autocannon only: it is the lighter)",
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
  admitted: allAdmitted,
};
