import type { Scenario, ScenarioLimits } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime } from "./traffic.ts";

/** Sends a burst on one key. On another key, sends a stampede: up to 500 requests at the same time. */
export const burst: Scenario = {
  name: "burst",
  title: "a burst of the published size is admitted, and a stampede gets no more than the limit",
  sends: "a burst over half of the slots; a stampede on another key",
  claims: ["LIM-1", "LIM-7", "LIM-12", "HDR-9", "HDR-11"],
  tiers: "with burst",
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["keys.second"],
  flows: (limits) => {
    const connections = halfOfSlots(limits);
    const burstSize = limits.burst ?? limits.perMinute;
    return [
      flow("burst", invoke, { kind: "shared", atOnce: connections, requests: burstSize + 5 + 2 * connections }),
      flow("stampede", invoke, { kind: "at once", requests: stampedeSize(limits) }, { key: "second", afterSeconds: 1 }),
    ];
  },
  speed: realTime,
  seconds: () => 2,
  admitted: ({ limits, minute }) => ({
    burst: { min: limits.burst ?? minute.min, max: minute.max },
    stampede: { min: 1, max: minute.max },
  }),
};

/**
 * Size of the stampede: more requests than a minute admits, but at most 500, because each request needs a connection.
 */
const stampedeSize = (limits: ScenarioLimits): number =>
  Math.min(500, limits.perMinute + (limits.burst ?? limits.perMinute) + 10);
