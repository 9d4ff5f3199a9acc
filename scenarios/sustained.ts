import { allAdmitted, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, invoke } from "./traffic.ts";

/** Sends at most nine tenths of the limit per minute, at a constant rate. The server must refuse no request. */
export const sustained: Scenario = {
  name: "sustained",
  title: "a steady load just under the limit meets no 429 at all",
  sends: "a steady nine tenths of the minute's limit (k6 only: it keeps a rate)",
  claims: ["LIM-2", "HDR-1", "HDR-12"],
  tiers: "published",
  engines: ["k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => [flow("steady", invoke, { kind: "paced", perSecond: ratePerSecond(limits), seconds: 75 })],
  speed: () => 20,
  seconds: () => 77,
  admitted: allAdmitted,
};

/** Returns a rate at which 75 seconds of requests stay below the limits per minute and per hour. */
const ratePerSecond = ({ perMinute, perHour }: ScenarioLimits): number =>
  Math.min((perMinute / 60) * 0.9, perHour / 80);
