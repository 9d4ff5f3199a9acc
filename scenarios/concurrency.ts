import { exactly, type Scenario } from "./scenario.ts";
import { flow, slowInvoke } from "./traffic.ts";

/**
 * First sends more slow requests at once than the key's concurrency limit allows. Then sends exactly as many as the
 * limit allows.
 */
export const concurrency: Scenario = {
  name: "concurrency",
  title: "slow invokes at once: exactly as many as there are slots",
  sends: "more slow invokes at once than there are slots",
  claims: ["LIM-5", "LIM-6", "LIM-12", "LIM-17"],
  tiers: "all",
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["agents.slow"],
  flows: ({ concurrent }) => [
    flow("too-many", slowInvoke, { kind: "at once", requests: concurrent + Math.ceil(concurrent / 2) + 1 }),
    flow("as-many", slowInvoke, { kind: "at once", requests: concurrent }, { afterSeconds: 5 }),
  ],
  speed: () => 3,
  seconds: () => 8,
  admitted: ({ limits }) => ({ "too-many": exactly(limits.concurrent), "as-many": exactly(limits.concurrent) }),
};
