import { eachAdmitted, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, halfOfSlots, invoke, repeatEvery } from "./traffic.ts";

/** Longer than a minute, so that no two rounds lie in the same minute, fixed or rolling. */
const roundIntervalSeconds = 80;

/** Uses up the limit per hour three times. The last time certainly lies within one fixed or rolling hour. */
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
  // High limits get a slower clock, so that the target gets at most 2,000 requests a second.
  speed: ({ perMinute }) => Math.min(900, Math.floor((2000 * roundIntervalSeconds) / perMinute)),
  seconds: (limits) => (3 * roundCount(limits) + spareRounds) * roundIntervalSeconds + hourSeconds + 60,
  admitted: (plan) => ({
    // Checks only the limit per minute: a k6 script alone does not know when an hour ends.
    ...eachAdmitted(plan, "", { min: 0, max: plan.minute.max }),
    "later-1": { min: 1, max: plan.minute.max },
  }),
};

const hourSeconds = 3600;

/** One more round than the hour's limit needs, because a round may cross the end of a minute. */
const roundCount = ({ perHour, perMinute }: ScenarioLimits): number => Math.ceil(perHour / perMinute) + 1;

/** Extra rounds: a busy machine may start rounds late, so that two of them share a minute. */
const spareRounds = 2;
