import type { LimitName } from "../../rules/limits/admission/models.ts";
import type { TierProbeContext } from "../../run/probe.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import type { KeySender } from "./exhaust.ts";
import { SkipError } from "../../run/skip-reason.ts";

/** Largest limit that a probe uses up more than once, to measure how long the window is. */
const maxRepeatedAllowance = 200;
/** Largest limits to use up if GET requests do not count toward them. Every request must then be an invoke. */
const maxInvoked = { minute: 50, hour: 100 } as const;

export const isUsedUpTwice = ({ countedRead }: KeySender, limit: number): boolean =>
  countedRead !== null && limit <= maxRepeatedAllowance;

/** Throws a `SkipError` if only invokes can use up the limit, and the limit exceeds `maxInvoked`. */
export function requireCountedRead({ countedRead, limits }: KeySender, name: LimitName): void {
  const limit = name === "hour" ? limits.perHour : limits.perMinute;
  if (countedRead === null && limit > maxInvoked[name])
    throw new SkipError(`no GET request is known to count (HDR-12), so the ${name} takes ${limit} agent executions`);
}

interface LimitCost {
  readonly requests: number;
  readonly executions: number;
}

/** Planned requests after a limit is used up. Without a test clock, the probe then requests fewer endpoints. */
const requestsBeyond = { testClock: 75, realClock: 25 } as const;

const burstsOfSmallMinute = 4;

export function minuteCost({ perMinute, burst }: TierLimits, { clock }: Pick<Target, "clock">): LimitCost {
  const inBurst = perMinute + (burst ?? 0);
  if (clock === null) return { requests: inBurst + requestsBeyond.realClock, executions: 8 };
  return perMinute <= maxRepeatedAllowance
    ? { requests: burstsOfSmallMinute * inBurst + requestsBeyond.testClock, executions: 20 }
    : { requests: inBurst + requestsBeyond.testClock, executions: 8 };
}

/** Requests needed to use up the hour's limit, as a multiple of the limit. */
const hourFactor = {
  // The probe can use up a limit of at most 200 twice, to measure how long its window is.
  small: 2.2,
  // If the burst is unknown, the target may refuse early in each minute. The probe then sends additional requests.
  ofUnknownBurst: 1.3,
  other: 1,
} as const;

/**
 * Maximum number of times that the limit per minute can be used up in one hour of the test clock. The probe advances
 * the clock by about two minutes after each time, so 29 fit. Two of them are reserved for the end of the probe.
 */
const maxMinutesCutShort = 27;

/**
 * Whether the probe sends only e.g. 59 requests in a minute with the limit 60. The 60th would have to be an invoke,
 * because GET requests possibly do not count. Without it, a minute needs no invoke, and no agent runs.
 */
const isMinuteCutShort = ({ perMinute, perHour }: TierLimits, hasClock: boolean): boolean =>
  // The probe makes up for the omitted requests, one a minute, in a single additional minute. They must fit into it.
  hasClock && perMinute >= 10 && perHour <= perMinute * Math.min(perMinute, maxMinutesCutShort);

/** Returns how many requests the probe sends in each minute but the last. The last may reach the limit per minute. */
export const requestsPerMinuteOf = (limits: TierLimits, hasClock: boolean): number =>
  limits.perMinute - Number(isMinuteCutShort(limits, hasClock));

/** Returns the number of minutes that the probe takes to use up an hour's limit. */
export const minutesToUseUpHour = (limits: TierLimits, hasClock: boolean): number =>
  Math.ceil(limits.perHour / limits.perMinute) + Number(isMinuteCutShort(limits, hasClock));

/** Planned number of invokes near the hour's limit, plus those after its reset. */
const invokesAtEnd = 5;
/** Invokes planned for the case that a GET is refused early: an invoke confirms that the limit is reached. */
const invokesToConfirm = 2;

/**
 * Returns how many requests and executions are needed to use up an hour's limit. Assumes that GET requests count toward
 * the limit.
 */
export function hourCost(limits: TierLimits, { clock }: Pick<Target, "clock">): LimitCost {
  const { perHour, burst } = limits;
  const hasClock = clock !== null;
  const invokesBefore = isMinuteCutShort(limits, hasClock) ? invokesToConfirm : minutesToUseUpHour(limits, hasClock);
  const executions = invokesBefore + invokesAtEnd;
  if (!hasClock) return { requests: perHour + requestsBeyond.realClock, executions };
  const isSmall = perHour <= maxRepeatedAllowance;
  const factor = hourFactor[isSmall ? "small" : burst === null ? "ofUnknownBurst" : "other"];
  return {
    requests: Math.ceil(factor * perHour) + requestsBeyond.testClock,
    executions: (isSmall ? 2 : 1) * executions,
  };
}

interface LimitResult {
  /** Whether the tier admitted more than its limit. */
  readonly isOver: boolean;
  /** Whether the tier admitted less than its limit. */
  readonly isShort: boolean;
  /** Whether one burst got more admissions than the tier's limit per minute. A burst allowance permits this. */
  readonly admitsBurst: boolean;
}

interface TierProgress {
  readonly tier: string;
  readonly limit: number;
  result: LimitResult | null;
}

const progressOfRun = new WeakMap<Recorder, Record<LimitName, TierProgress[]>>();

type TestedTier = Pick<TierProbeContext["tested"], "tier" | "limits">;

/** Functions with which a tier's probe reports its result and reads the results of tiers with smaller limits. */
export interface SmallerTiers {
  readonly report: (result: LimitResult) => void;
  readonly some: (result: keyof LimitResult) => boolean;
  /** Whether the probe's own tier admitted more requests than its limit per minute. */
  readonly exceedsMinute: () => boolean;
  /** Advances the test clock, if any, until all tiers with smaller limits have reported. */
  readonly awaitResults: (time: RunClock, stepMs: number) => Promise<void>;
}

/** Registers the tier. Tests of tiers with larger limits can then use this tier's result. */
function joinTiers(recorder: Recorder, name: LimitName, { tier, limits }: TestedTier): SmallerTiers {
  const progress = progressOfRun.get(recorder) ?? { hour: [], minute: [] };
  progressOfRun.set(recorder, progress);
  const own: TierProgress = {
    tier,
    limit: name === "hour" ? limits.perHour : limits.perMinute,
    result: null,
  };
  progress[name].push(own);
  const smaller = (): TierProgress[] => progress[name].filter(({ limit }) => limit < own.limit);
  return {
    report: (result) => {
      own.result ??= result;
    },
    exceedsMinute: () => progress.minute.some((each) => each.tier === tier && each.result?.isOver === true),
    some: (result) => smaller().some((each) => each.result?.[result] === true),
    awaitResults: async (time, stepMs) => {
      while (time.canAdvance && smaller().some((each) => each.result === null))
        await time.passTime(stepMs, "the hour of a smaller tier must be used up first");
    },
  };
}

const noBreach: LimitResult = { isOver: false, isShort: false, admitsBurst: false };

/** Runs the probe of a tier. If it fails, reports `noBreach`: probes of larger tiers would otherwise wait for it. */
export async function runAmongTiers<T>(
  { recorder, tested }: TierProbeContext,
  name: LimitName,
  run: (smallerTiers: SmallerTiers) => Promise<T>,
): Promise<T> {
  const smallerTiers = joinTiers(recorder, name, tested);
  try {
    return await run(smallerTiers);
  } finally {
    smallerTiers.report(noBreach);
  }
}

/**
 * With a test clock: maximum number of requests beyond a tier's limit if a tier with a smaller limit admitted too many.
 * That tier's result already proves the fault.
 */
export const maxBeyondLimit = 5;
