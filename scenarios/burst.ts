import type { TierLimits } from "../src/spec/tiers.ts";
import type { Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime, tiersWithBurst } from "./traffic.ts";

/** One key takes its burst as fast as the slots allow; the other one gets far more than that in the same instant. */
export const burst: Scenario = {
  name: "burst",
  title: "a burst of the published size is admitted, and a stampede gets no more than the limit",
  claims: ["LIM-1", "LIM-7", "LIM-12", "HDR-9", "HDR-11"],
  tiers: tiersWithBurst,
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["keys.second"],
  flows: (limits) => {
    const size = limits.burst ?? limits.perMinute;
    return [
      flow("burst", invoke, {
        kind: "shared",
        atOnce: halfOfSlots(limits),
        requests: size + 5 + 2 * halfOfSlots(limits),
      }),
      flow("stampede", invoke, { kind: "at once", requests: stampedeOf(limits) }, { key: "second", afterSeconds: 1 }),
    ];
  },
  speed: realTime,
  seconds: () => 2,
};

/** More than the minute and the burst allow together, and no more connections than a machine opens within a few milliseconds. */
const stampedeOf = (limits: TierLimits): number =>
  Math.min(500, limits.perMinute + (limits.burst ?? limits.perMinute) + 10);
