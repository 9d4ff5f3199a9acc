import { tierNames } from "../src/spec/tiers.ts";
import type { Scenario } from "./scenario.ts";
import { flow, slowInvoke } from "./traffic.ts";

/** More slow invokes at once than there are slots, and as many as there are once those have ended. */
export const concurrency: Scenario = {
  name: "concurrency",
  title: "slow invokes at once: exactly as many as there are slots",
  claims: ["LIM-5", "LIM-6", "LIM-12", "LIM-17"],
  tiers: tierNames,
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["agents.slow"],
  flows: ({ concurrent }) => [
    flow("too-many", slowInvoke, { kind: "at once", requests: concurrent + Math.ceil(concurrent / 2) + 1 }),
    flow("as-many", slowInvoke, { kind: "at once", requests: concurrent }, { afterSeconds: 5 }),
  ],
  speed: () => 3,
  seconds: () => 8,
};
