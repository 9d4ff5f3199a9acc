import type { LimitName } from "../../rules/limits/admission/models.ts";
import type { TierProbeContext } from "../../run/probe.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import type { KeySender } from "./exhaust.ts";
import { SkipError } from "../../run/skip-reason.ts";

/** Largest limit that the run uses up twice to measure the window. */
const maxRepeatedAllowance = 200;
/** Largest limits that the run uses up only with invokes, each of which executes an agent. */
const maxInvoked = { minute: 50, hour: 100 } as const;

export const isUsedUpTwice = ({ countedRead }: KeySender, limit: number): boolean =>
  countedRead !== null && limit <= maxRepeatedAllowance;

/** Throws a `SkipError` if using up the limit would run too many agents. */
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
  // A small limit is used up twice.
  small: 2.2,
  // If the burst is unknown, some minutes may end in early refusals. Each refusal costs extra requests.
  ofUnknownBurst: 1.3,
  other: 1,
} as const;

/** With more minutes, one more would not fit into an hour of the test clock, which moves two minutes for each. */
const maxMinutesCutShort = 27;

/**
 * Whether each minute of an hour leaves one request. A GET request with `Remaining: 0` need not have counted, so the
 * last request of a full minute must be an invoke.
 */
const isMinuteCutShort = ({ perMinute, perHour }: TierLimits, hasClock: boolean): boolean =>
  // Otherwise, cutting minutes short takes more than one minute more.
  hasClock && perMinute >= 10 && perHour <= perMinute * Math.min(perMinute, maxMinutesCutShort);

/** Number of requests to send in each minute of an hour but the last. */
export const shareOfMinute = (limits: TierLimits, hasClock: boolean): number =>
  limits.perMinute - Number(isMinuteCutShort(limits, hasClock));

/** Minutes that it takes to use up an hour's limit. */
export const minutesOfHour = (limits: TierLimits, hasClock: boolean): number =>
  Math.ceil(limits.perHour / limits.perMinute) + Number(isMinuteCutShort(limits, hasClock));

/** Number of invokes around the end of an hour, and after it. */
const invokesAtEnd = 5;
/** Number of further invokes, to confirm refusals, if minutes do not end with one. */
const invokesToConfirm = 2;

/** Returns what using up an hour costs if some GET request counts. Otherwise, each request is an invoke. */
export function hourCost(limits: TierLimits, { clock }: Pick<Target, "clock">): LimitCost {
  const { perHour, burst } = limits;
  const hasClock = clock !== null;
  const invokesBefore = isMinuteCutShort(limits, hasClock) ? invokesToConfirm : minutesOfHour(limits, hasClock);
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
  /** The tier admits more than its limit. */
  readonly isOver: boolean;
  /** The tier admits less than its limit. */
  readonly isShort: boolean;
  /** One burst exceeded the limit per minute, which a burst allowance permits. */
  readonly admitsBurst: boolean;
}

interface TierProgress {
  readonly tier: string;
  readonly limit: number;
  result: LimitResult | null;
}

const progressOfRun = new WeakMap<Recorder, Record<LimitName, TierProgress[]>>();

type TestedTier = Pick<TierProbeContext["tested"], "tier" | "limits">;

/** Results of the tiers with smaller limits in this run. */
export interface SmallerTiers {
  readonly report: (result: LimitResult) => void;
  readonly some: (result: keyof LimitResult) => boolean;
  /** Whether this tier itself has admitted more than its limit per minute. */
  readonly exceedsMinute: () => boolean;
  readonly awaitResults: (time: RunClock, stepMs: number) => Promise<void>;
}

/** Registers the tier. After a breach on this tier, larger tiers can save requests. */
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

/** After this many requests beyond the limit, waits for the results of smaller tiers. */
export const maxBeyondLimit = 5;
