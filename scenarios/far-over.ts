import { eachAdmitted, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime, repeatEvery } from "./traffic.ts";

/** Sends thirty times as many requests as a minute allows, in ten waves. Refusals must stay fast. */
export const farOver: Scenario = {
  name: "far-over",
  title: "far over the limit: nothing but 200 and 429, each of them soon",
  sends: "wave after wave, thirty times the limit in three seconds",
  claims: ["LIM-1", "LIM-12", "HDR-4", "HDR-9", "HDR-11", "HDR-17", "HDR-19", "ERR-2", "ERR-8", "ERR-9"],
  tiers: ["pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) =>
    repeatEvery(
      0.3,
      10,
      flow("flood", invoke, { kind: "shared", atOnce: halfOfSlots(limits), requests: waveSize(limits) }),
    ),
  speed: realTime,
  seconds: () => 3,
  admitted: (plan) => ({
    // Waves after the first must be refused. However, a limiter that refills continuously, such as a token bucket, can
    // admit a few requests.
    ...eachAdmitted(plan, "flood-", { min: 0, max: Math.ceil(plan.limits.perMinute / 60) }),
    "flood-1": plan.minute,
  }),
};

/** Number of requests in a wave. The maximum keeps k6 and autocannon from becoming the bottleneck. */
const waveSize = ({ perMinute }: ScenarioLimits): number => Math.min(300, Math.max(50, 3 * perMinute));
