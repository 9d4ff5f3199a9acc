import { eachAdmitted, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, halfOfSlots, invoke, repeatEvery } from "./traffic.ts";

/**
 * Seconds between the starts of two rounds. Longer than a minute, so that no two rounds lie in one minute, fixed or
 * rolling.
 */
const roundIntervalSeconds = 80;

/**
 * Uses up the hour's limit in three passes. A pass consists of rounds, and each round sends as many requests as a
 * minute admits.
 *
 * Too many admitted requests prove nothing if an hour may have ended during the pass. If an hour ends during the first
 * pass, the second pass lies within one hour. The third pass starts when the whole limit is available again, for fixed
 * and for rolling hours. So it certainly lies within one hour. On a busy machine, passes may overlap.
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
  // Big tiers get a slower clock, so that the target gets at most 2,000 requests a second.
  speed: ({ perMinute }) => Math.min(900, Math.floor((2000 * roundIntervalSeconds) / perMinute)),
  seconds: (limits) => (3 * roundCount(limits) + spareRounds) * roundIntervalSeconds + hourSeconds + 60,
  admitted: (plan) => ({
    // Bounds by the minute's limit only. A k6 script that a user starts directly cannot judge the hour, because it does
    // not know when an hour ends.
    ...eachAdmitted(plan, "", { min: 0, max: plan.minute.max }),
    "later-1": { min: 1, max: plan.minute.max },
  }),
};

const hourSeconds = 3600;

/** Number of rounds in a pass: one more than the hour's limit needs, because a round may cross the end of a minute. */
const roundCount = ({ perHour, perMinute }: ScenarioLimits): number => Math.ceil(perHour / perMinute) + 1;

/**
 * Number of extra rounds in the third pass. On a busy machine with a fast clock, a round may start so late that it
 * shares a minute with the next.
 */
const spareRounds = 2;
