import type { TierLimits } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import { maxRepeatedAllowance } from "./exhaust.ts";

/**
 * The cost of a probe that uses up a limit. The numbers are at least those of a server that keeps to the document, and
 * at most about twice as many.
 */
interface LimitCost {
  readonly requests: number;
  readonly executions: number;
}

/** Requests to every endpoint and agent while a limit is used up, with a test clock and without. */
const requestsBeyond = { testClock: 75, realClock: 25 } as const;

/** Number of times that a small minute is used up with a test clock: in two bursts, and in the windows after them. */
const burstsOfSmallMinute = 4;

/** Cost of using up the minute's limit of a tier. */
export function minuteCost({ perMinute, burst }: TierLimits, { clock }: Pick<Target, "clock">): LimitCost {
  const inBurst = perMinute + (burst ?? 0);
  if (clock === null) return { requests: inBurst + requestsBeyond.realClock, executions: 8 };
  return perMinute <= maxRepeatedAllowance
    ? { requests: burstsOfSmallMinute * inBurst + requestsBeyond.testClock, executions: 20 }
    : { requests: inBurst + requestsBeyond.testClock, executions: 8 };
}

/**
 * Requests to use up an hour with a test clock, as a multiple of its limit. A small hour is used up twice. If the burst
 * is not published, a server may refuse early in each minute, and then gets more requests.
 */
const hourFactor = { small: 2.2, ofUnknownBurst: 1.3, other: 1 } as const;

/** Cost of using up the hour's limit of a tier. */
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
