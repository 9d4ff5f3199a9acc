import type { LimitName } from "../../rules/limits/admission/models.ts";
import type { TierProbeContext } from "../../run/probe.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import type { KeySender } from "./exhaust.ts";
import { SkipError } from "../../run/skip-reason.ts";

/** Largest limit that a probe uses up twice to measure the length of its window. */
const maxRepeatedAllowance = 200;
/** Largest limits that a probe may use up with invokes only. Larger ones would run too many agents. */
const maxInvoked = { minute: 50, hour: 100 } as const;

/** Whether to use up a limit twice, to measure its window. With invokes alone, too many agents would run. */
export const isUsedUpTwice = ({ countedRead }: KeySender, limit: number): boolean =>
  countedRead !== null && limit <= maxRepeatedAllowance;

/** Skips the probe (`SkipError`) if using up the limit would run too many agents. */
export function requireCountedRead({ countedRead, limits }: KeySender, name: LimitName): void {
  const limit = name === "hour" ? limits.perHour : limits.perMinute;
  if (countedRead === null && limit > maxInvoked[name])
    throw new SkipError(`no GET request is known to count (HDR-12), so the ${name} takes ${limit} agent executions`);
}

interface LimitCost {
  readonly requests: number;
  readonly executions: number;
}

/** Number of requests to all endpoints and agents after a limit is used up. */
const requestsBeyond = { testClock: 75, realClock: 25 } as const;

/** Number of times that a small limit per minute is used up with a test clock. */
const burstsOfSmallMinute = 4;

/** Returns how many requests and agent executions it takes to use up a tier's limit per minute. */
export function minuteCost({ perMinute, burst }: TierLimits, { clock }: Pick<Target, "clock">): LimitCost {
  const inBurst = perMinute + (burst ?? 0);
  if (clock === null) return { requests: inBurst + requestsBeyond.realClock, executions: 8 };
  return perMinute <= maxRepeatedAllowance
    ? { requests: burstsOfSmallMinute * inBurst + requestsBeyond.testClock, executions: 20 }
    : { requests: inBurst + requestsBeyond.testClock, executions: 8 };
}

/** Requests that use up the hour's limit with a test clock, as a multiple of that limit. */
const hourFactor = {
  // A small limit is used up twice.
  small: 2.2,
  // A server may refuse early in each minute, so that more requests are needed.
  ofUnknownBurst: 1.3,
  other: 1,
} as const;

/** Returns how many requests and agent executions it takes to use up a tier's limit per hour. */
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

/** Result of a probe that used up one limit of a tier. */
interface LimitResult {
  /** Whether the requests prove that the tier admits more than it publishes. */
  readonly isOver: boolean;
  /** Whether the target refused a request before the tier's limit was reached. */
  readonly isShort: boolean;
  /** Whether the target admitted more requests in one burst than the minute's limit. A burst allowance permits this. */
  readonly admitsBurst: boolean;
}

interface TierProgress {
  readonly limit: number;
  result: LimitResult | null;
}

/** For each run, the tiers whose limits its probes use up, with the results so far. */
const progressOfRun = new WeakMap<Recorder, Record<LimitName, TierProgress[]>>();

/** Access to the results of all tiers in this run that have a smaller limit than the tier under test. */
export interface SmallerTiers {
  /** Sets the result of the tier under test. Later calls change nothing. */
  readonly report: (result: LimitResult) => void;
  /** Whether a property, such as `isOver`, is true in the result of some smaller tier so far. */
  readonly some: (result: keyof LimitResult) => boolean;
  readonly awaitResults: (time: RunClock, stepMs: number) => Promise<void>;
}

/** Registers the tier under test. Once a smaller tier proves a breach, larger tiers stop soon after their limit. */
function joinTiers(recorder: Recorder, name: LimitName, limits: TierLimits): SmallerTiers {
  const progress = progressOfRun.get(recorder) ?? { hour: [], minute: [] };
  progressOfRun.set(recorder, progress);
  const own: TierProgress = { limit: name === "hour" ? limits.perHour : limits.perMinute, result: null };
  progress[name].push(own);
  const smaller = (): TierProgress[] => progress[name].filter(({ limit }) => limit < own.limit);
  return {
    report: (result) => {
      own.result ??= result;
    },
    some: (result) => smaller().some((each) => each.result?.[result] === true),
    awaitResults: async (time, stepMs) => {
      while (time.canAdvance && smaller().some((each) => each.result === null))
        await time.passTime(stepMs, "the hour of a smaller tier must be used up first");
    },
  };
}

const noBreach: LimitResult = { isOver: false, isShort: false, admitsBurst: false };

/** Runs a probe that uses up a limit of the tier under test, and reports the result to larger tiers. */
export async function runAmongTiers<T>(
  { recorder, tested: { limits } }: TierProbeContext,
  name: LimitName,
  run: (smallerTiers: SmallerTiers) => Promise<T>,
): Promise<T> {
  const smallerTiers = joinTiers(recorder, name, limits);
  try {
    return await run(smallerTiers);
  } finally {
    smallerTiers.report(noBreach);
  }
}

/** Number of requests beyond its tier's limit before a probe waits for the results of smaller tiers. */
export const maxBeyondLimit = 5;
