import { publishedTierNames, type TierLimits } from "../src/spec/tiers.ts";
import type { Scenario } from "./scenario.ts";
import { flow, invoke } from "./traffic.ts";

/** A steady nine tenths of the minute's limit: nothing may be refused. Keeping a pace is k6's. */
export const sustained: Scenario = {
  name: "sustained",
  title: "a steady load just under the limit meets no 429 at all",
  claims: ["LIM-2", "HDR-1", "HDR-12"],
  tiers: publishedTierNames,
  engines: ["k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => [flow("steady", invoke, { kind: "paced", perSecond: paceOf(limits), seconds: 75 })],
  speed: () => 20,
  seconds: () => 77,
};

/** The hour must last for it, too: an hour's limit below the minute's pace would refuse rightly. */
const paceOf = ({ perMinute, perHour }: TierLimits): number => Math.min((perMinute / 60) * 0.9, perHour / 80);
