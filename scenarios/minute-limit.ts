import { eachAdmitted, type Flow, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, invoke, repeatEvery } from "./traffic.ts";

/**
 * Uses up the minute's limit four times. Each time begins when no earlier request counts any more.
 *
 * Two flows send slightly more requests than the minute allows. Two flows send more than the minute and the burst allow
 * together. Wherever the target's minutes end, one flow of each pair lies within a single fixed minute.
 */
export const minuteLimit: Scenario = {
  name: "minute-limit",
  title: "the requests of a minute: exactly as many as the tier allows, also over the minute's end",
  sends: "a minute used up four times, by just more than its number and by far more",
  claims: [
    "LIM-1",
    "LIM-2",
    "LIM-10",
    "LIM-12",
    "HDR-1",
    "HDR-4",
    "HDR-9",
    "HDR-11",
    "HDR-12",
    "HDR-14",
    "HDR-17",
    "HDR-19",
    "SVC-1",
    "REQ-4",
    "ERR-2",
    "ERR-8",
    "ERR-9",
    "INV-2",
  ],
  tiers: "all",
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => [
    ...fillAndOverrun(limits, ["few", "single"], fillSeconds[0]),
    ...fillAndOverrun(limits, ["few-2", "single-2"], fillSeconds[1]),
    ...exhaustAndRecheck(limits, ["serial", "again"], exhaustSeconds[0]),
    ...exhaustAndRecheck(limits, ["serial-2", "again-2"], exhaustSeconds[1]),
  ],
  // Keeps the clock slow enough for a busy machine to send a minute's requests one by one. The clock is faster on a
  // tier without a published burst, because no exact verdict is possible there.
  speed: ({ perMinute, burst }) => {
    if (burst === null) return 100;
    return perMinute <= 100 ? 40 : 60;
  },
  seconds: () => exhaustSeconds[1] + 35,
  admitted: (plan) => eachAdmitted(plan, "serial", plan.minute),
};

/**
 * Starts of the two flows of each pair, in seconds. The second value is half a minute later than the first, modulo a
 * minute.
 * At each start, the whole limit is available again, even for a limiter that also counts part of the previous minute.
 * The exhausting flows come last: if a server counts refused requests, its token bucket needs minutes to refill.
 */
const fillSeconds = [0, 150] as const;
const exhaustSeconds = [236, 326] as const;

type FlowNames = readonly [many: string, few: string];

/**
 * Sends requests one by one until the minute's limit and the burst are both used up. Sends a few more later, when a
 * token bucket has refilled a little. They are few, because a server may count refused requests against the limit.
 */
function exhaustAndRecheck(limits: ScenarioLimits, [many, few]: FlowNames, afterSeconds: number): Flow[] {
  const recheck = flow(few, invoke, { kind: "in turn", requests: 3 }, { afterSeconds: afterSeconds + 15 });
  return [
    flow(many, invoke, { kind: "in turn", requests: maxAdmitted(limits) + 3 }, { afterSeconds }),
    ...repeatEvery(10, 2, recheck),
  ];
}

/**
 * Sends requests up to two below the minute's limit, then single requests with pauses. In the pauses the server can
 * free slots, so that it refuses no single request for concurrency.
 */
function fillAndOverrun({ perMinute }: ScenarioLimits, [many, few]: FlowNames, afterSeconds: number): Flow[] {
  const single = flow(few, invoke, { kind: "in turn", requests: 1 }, { afterSeconds: afterSeconds + 8 });
  return [
    flow(many, invoke, { kind: "in turn", requests: Math.max(1, perMinute - 2) }, { afterSeconds }),
    ...repeatEvery(4, 5, single),
  ];
}

/**
 * Returns the maximum number of requests that a minute may admit. The document does not say whether the burst comes on
 * top, so it may.
 */
const maxAdmitted = ({ perMinute, burst }: ScenarioLimits): number => perMinute + (burst ?? perMinute);
