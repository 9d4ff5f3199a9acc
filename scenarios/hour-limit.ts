import { eachAdmitted, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, halfOfSlots, invoke, repeatEvery } from "./traffic.ts";

/** Seconds between two rounds. This is longer than a minute, so that no two rounds share a minute, fixed or rolling. */
const roundIntervalSeconds = 80;

/**
 * Uses up the hour's limit in three passes of several rounds. Each round sends a minute's number of requests.
 *
 * If an hour ends during the first pass, the second pass lies within one hour. A pass during which an hour may have
 * ended proves nothing by one request too many. The third pass starts when the whole hour's limit is available again,
 * for fixed and for rolling hours, so it certainly lies within one hour. On a busy machine the passes may overlap.
 */
export const hourLimit: Scenario = {
  name: "hour-limit",
  title: "the requests of an hour: exactly as many as the tier allows, then none, and all of them again an hour later",
  sends: "a minute's worth at a time, until the hour is used up; again an hour later",
  claims: ["LIM-3", "LIM-4", "LIM-10", "LIM-12", "HDR-9", "HDR-11", "HDR-14", "HDR-17", "HDR-19"],
  tiers: "all",
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => {
    const passSeconds = roundCount(limits) * roundIntervalSeconds;
    const shape = { kind: "shared", atOnce: halfOfSlots(limits), requests: limits.perMinute } as const;
    const pass = (name: string, count: number, afterSeconds: number) =>
      repeatEvery(roundIntervalSeconds, count, flow(name, invoke, shape, { afterSeconds }));
    return [
      ...pass("first", roundCount(limits), 0),
      ...pass("second", roundCount(limits), passSeconds),
      ...pass("later", roundCount(limits) + spareRounds, 2 * passSeconds + hourSeconds + 60),
    ];
  },
  // Limits the speed for big tiers, so that the target gets at most 2,000 requests a second.
  speed: ({ perMinute }) => Math.min(900, Math.floor((2000 * roundIntervalSeconds) / perMinute)),
  seconds: (limits) => (3 * roundCount(limits) + spareRounds) * roundIntervalSeconds + hourSeconds + 60,
  admitted: (plan) => ({
    // A k6 script does not know when an hour ends, so these bounds check the minute only. `conformance load` judges the
    // hour.
    ...eachAdmitted(plan, "", { min: 0, max: plan.minute.max }),
    "later-1": { min: 1, max: plan.minute.max },
  }),
};

const hourSeconds = 3600;

/** Number of rounds in a pass: one more than the hour needs, in case a round crosses the end of a minute. */
const roundCount = ({ perHour, perMinute }: ScenarioLimits): number => Math.ceil(perHour / perMinute) + 1;

/**
 * Extra rounds of the third pass. On a busy machine with a fast clock, a round may start so late that two rounds share
 * a minute.
 */
const spareRounds = 2;
