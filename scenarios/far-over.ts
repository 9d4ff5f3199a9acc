import type { TierLimits } from "../src/spec/tiers.ts";
import type { Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime, repeatEvery } from "./traffic.ts";

/** Wave after wave, far beyond the limit: nothing but 200 and 429, and refusals that come as fast as answers. */
export const farOver: Scenario = {
  name: "far-over",
  title: "far over the limit: nothing but 200 and 429, each of them soon",
  claims: ["LIM-1", "LIM-12", "HDR-4", "HDR-9", "HDR-11", "HDR-17", "HDR-19", "ERR-2", "ERR-8", "ERR-9"],
  tiers: ["pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) =>
    repeatEvery(
      10,
      flow("flood", invoke, { kind: "shared", atOnce: halfOfSlots(limits), requests: perRound(limits) }),
      0.3,
    ),
  speed: realTime,
  seconds: () => 3,
};

/** Thirty times the minute's number in three seconds, within what either engine sends without being the bottleneck. */
const perRound = ({ perMinute }: TierLimits): number => Math.min(300, Math.max(50, 3 * perMinute));
