import { type TierLimits, tierNames } from "../src/spec/tiers.ts";
import type { Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, repeatEvery } from "./traffic.ts";

/** So far apart that each round finds a minute of its own, fixed or rolling. */
const betweenRoundsSeconds = 80;

/**
 * The hour's allowance, a minute's worth at a time, twice: where an hour ends during the first pass, the second one falls into a
 * single hour. Then again once everything has come back, whatever shape the hour has: where an hour may have ended during the first
 * two passes, so that one too many is not proven by them, this one lies within a single hour. (On a busy machine the first pass reaches into the second.)
 */
export const hourLimit: Scenario = {
  name: "hour-limit",
  title: "the requests of an hour: exactly as many as the tier allows, then none, and all of them again an hour later",
  claims: ["LIM-3", "LIM-4", "LIM-10", "LIM-12", "HDR-9", "HDR-11", "HDR-14", "HDR-17", "HDR-19"],
  tiers: tierNames,
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => {
    const passSeconds = roundsOf(limits) * betweenRoundsSeconds;
    const shape = { kind: "shared", atOnce: halfOfSlots(limits), requests: limits.perMinute } as const;
    const pass = (name: string, count: number, afterSeconds: number) =>
      repeatEvery(count, flow(name, invoke, shape, { afterSeconds }), betweenRoundsSeconds);
    return [
      ...pass("first", roundsOf(limits), 0),
      ...pass("second", roundsOf(limits), passSeconds),
      ...pass("later", roundsOf(limits) + spareRounds, 2 * passSeconds + hourSeconds + 60),
    ];
  },
  // Of a big tier, a round needs its real time, too: 2,000 requests a second are asked for, and no more.
  speed: ({ perMinute }) => Math.min(900, Math.floor((2000 * betweenRoundsSeconds) / perMinute)),
  seconds: (limits) => (3 * roundsOf(limits) + spareRounds) * betweenRoundsSeconds + hourSeconds + 60,
};

const hourSeconds = 3600;

/** One more than it takes, should a round meet the end of a minute. */
const roundsOf = ({ perHour, perMinute }: TierLimits): number => Math.ceil(perHour / perMinute) + 1;

/** On a busy machine and a fast clock, a round may come so late that it meets the minute of the one before. */
const spareRounds = 2;
