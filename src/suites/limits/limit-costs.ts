import type { TierLimits } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import { maxRepeatedAllowance } from "./exhaust.ts";

/**
 * Upper bounds of what a probe sends to use up a limit: its requests and agent executions. With a server that follows
 * the document, it sends at least about half as many.
 */
interface LimitCost {
  readonly requests: number;
  readonly executions: number;
}

/** Number of requests to all endpoints and agents while a limit is used up, with a test clock and without. */
const requestsBeyond = { testClock: 75, realClock: 25 } as const;

/** How many times a small minute's limit is used up with a test clock: in two bursts, and in the windows after them. */
const burstsOfSmallMinute = 4;

/** Returns the cost of using up the minute's limit of a tier. */
export function minuteCost({ perMinute, burst }: TierLimits, { clock }: Pick<Target, "clock">): LimitCost {
  const inBurst = perMinute + (burst ?? 0);
  if (clock === null) return { requests: inBurst + requestsBeyond.realClock, executions: 8 };
  return perMinute <= maxRepeatedAllowance
    ? { requests: burstsOfSmallMinute * inBurst + requestsBeyond.testClock, executions: 20 }
    : { requests: inBurst + requestsBeyond.testClock, executions: 8 };
}

/**
 * Number of requests to use up an hour with a test clock, as a multiple of its limit. A small hour is used up twice. If
 * the burst is not published, a server may refuse early in each minute, and then gets more requests.
 */
const hourFactor = { small: 2.2, ofUnknownBurst: 1.3, other: 1 } as const;

/** Returns the cost of using up the hour's limit of a tier. */
export function hourCost({ perHour, perMinute, burst }: TierLimits, { clock }: Pick<Target, "clock">): LimitCost {
  const minutes = Math.ceil(perHour / perMinute);
  if (clock === null) return { requests: perHour + requestsBeyond.realClock, executions: minutes + 4 };
  const isSmall = perHour <= maxRepeatedAllowance;
  const factor = hourFactor[isSmall ? "small" : burst === null ? "ofUnknownBurst" : "other"];
  return {
    requests: Math.ceil(factor * perHour) + requestsBeyond.testClock,
    executions: (isSmall ? 2 : 1) * (minutes + 5),
  };
}
