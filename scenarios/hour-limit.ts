import { eachAdmitted, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, halfOfSlots, invoke, repeatEvery } from "./traffic.ts";

/** Time between the starts of two rounds. It exceeds a minute, so rounds that start on time never share a minute. */
const roundIntervalSeconds = 80;

/** Sends more requests than an hour admits, three times. The third time starts after a pause of an hour. */
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
  // At most 900, and so slow that the load is at most 2,000 requests per second on average.
  speed: ({ perMinute }) => Math.min(900, Math.floor((2000 * roundIntervalSeconds) / perMinute)),
  seconds: (limits) => (3 * roundCount(limits) + spareRounds) * roundIntervalSeconds + hourSeconds + 60,
  admitted: (plan) => ({
    // Checks only the limit per minute: a k6 script alone does not know when an hour ends.
    ...eachAdmitted(plan, "", { min: 0, max: plan.minute.max }),
    "later-1": { min: 1, max: plan.minute.max },
  }),
};

const hourSeconds = 3600;

/** Returns how many rounds use up the limit per hour, plus one round, whose requests exceed the limit. */
const roundCount = ({ perHour, perMinute }: ScenarioLimits): number => Math.ceil(perHour / perMinute) + 1;

/** Extra rounds at the end. On a busy machine, two rounds may share a minute, and the target then refuses requests. */
const spareRounds = 2;
