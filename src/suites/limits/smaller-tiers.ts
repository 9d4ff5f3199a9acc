import type { TierProbeContext } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { LimitName } from "../../rules/limits/admission/models.ts";
import type { TierLimits } from "../../spec/tiers.ts";

/** Result of using up the limit of one tier. */
interface LimitResult {
  /** Whether the requests prove that the tier admits more than it publishes. */
  readonly isOver: boolean;
  /** Whether the tier refused a request before its limit was reached. */
  readonly isShort: boolean;
  /** Whether one burst exceeded the limit per minute, which the burst allowance may explain. */
  readonly admitsBurst: boolean;
}

interface TierProgress {
  readonly limit: number;
  result: LimitResult | null;
}

/** Progress of the probes of each run that use up the limits of the tiers. */
const progressOfRun = new WeakMap<Recorder, Record<LimitName, TierProgress[]>>();

/** The other tiers whose limits this run uses up, as far as their limits are smaller. */
export interface SmallerTiers {
  /** Reports the result of the own tier. Only the first report counts. */
  readonly report: (result: LimitResult) => void;
  /** Whether some smaller tier has this result so far. */
  readonly some: (result: keyof LimitResult) => boolean;
  /** Lets time pass on the test clock until each smaller tier has a result. Does nothing on a real clock. */
  readonly settle: (time: RunClock, stepMs: number) => Promise<void>;
}

/**
 * Adds a tier to the run's progress. If a smaller tier has proved a breach, a larger tier needs no more than a few
 * requests beyond its limit: it would prove the same with thousands.
 */
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
    settle: async (time, stepMs) => {
      while (time.canAdvance && smaller().some((each) => each.result === null))
        await time.passTime(stepMs, "the hour of a smaller tier must be used up first");
    },
  };
}

const noBreach: LimitResult = { isOver: false, isShort: false, admitsBurst: false };

/** Runs a probe that uses up the limit of a tier. If the probe reports no result, it counts as one without a breach. */
export async function amongTiers<T>(
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

/** Number of requests beyond its limit that a tier admits before it waits for the results of smaller tiers. */
export const maxBeyondLimit = 5;
