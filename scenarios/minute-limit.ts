import type { TierLimits } from "../src/interface/tiers.ts";
import type { Scenario } from "./scenario.ts";
import { flow, invoke, rounds } from "./traffic.ts";

/** A fresh key used up one by one, asked again every ten seconds until a minute has surely passed, and once more with the last ones singly. */
export const minuteLimit: Scenario = {
  name: "minute-limit",
  title: "the requests of a minute: exactly as many as the tier allows, also over the minute's end",
  claims: ["LIM-1", "LIM-2", "LIM-10", "LIM-12", "HDR-1", "HDR-4", "HDR-9", "HDR-11", "HDR-12", "HDR-14", "HDR-17"],
  tiers: ["free", "pro", "team", "enterprise"],
  engines: ["autocannon", "k6"],
  enterprise: null,
  needs: [],
  flows: (limits) => [
    flow("serial", invoke, { kind: "in turn", requests: mostAdmitted(limits) + 3 }),
    // Early enough that a bucket of the burst's size has not filled up again.
    ...rounds(
      7,
      flow("again", invoke, { kind: "in turn", requests: Math.ceil(limits.perMinute / 5) + 1 }, { afterSeconds: 15 }),
      10,
    ),
    // The last ones singly, so that no slot which comes back late explains that one is refused.
    flow("later", invoke, { kind: "in turn", requests: limits.perMinute - 2 }, { afterSeconds: laterSeconds }),
    ...rounds(5, flow("single", invoke, { kind: "in turn", requests: 1 }, { afterSeconds: laterSeconds + 20 }), 4),
  ],
  speed: () => 50,
  seconds: () => laterSeconds + 40,
};

/** By then every minute that was used has passed. */
const laterSeconds = 150;

/** What the burst allowance adds to the minute is not stated: it may be all of it. */
const mostAdmitted = ({ perMinute, burst }: TierLimits): number => perMinute + (burst ?? perMinute);
