import { allAdmitted, type Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime } from "./traffic.ts";

/** Sends up to 3,000 invokes within the limits. Each invoke must cause one delivery of `agent.completed`. */
export const webhookStorm: Scenario = {
  name: "webhook-storm",
  title: "each admitted invoke brings one signed `agent.completed`, and none is lost",
  sends: "thousands of invokes of an agent with a webhook",
  claims: ["HOOK-8", "HOOK-17", "HOOK-21"],
  tiers: ["enterprise", "pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: { perHour: 20_000, perMinute: 10_000, concurrent: 50, burst: 10_000, tokensPerMonth: 50_000_000 },
  needs: ["receiver"],
  flows: (limits) => [
    flow("invokes", invoke, {
      kind: "shared",
      atOnce: Math.min(16, halfOfSlots(limits)),
      requests: Math.min(3000, Math.floor(limits.perMinute * 0.7)),
    }),
  ],
  speed: realTime,
  seconds: () => 5,
  admitted: allAdmitted,
};
