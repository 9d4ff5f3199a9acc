import type { TierProbeContext } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { LimitName } from "../../rules/limits/admission/models.ts";
import type { TierLimits } from "../../spec/tiers.ts";

/** Result of a probe that used up one limit of a tier. */
interface LimitResult {
  /** Whether the requests prove that the tier admits more than it publishes. */
  readonly isOver: boolean;
  /** Whether the target refused a request before the tier's limit was reached. */
  readonly isShort: boolean;
  /**
   * Whether the target admitted more requests in one burst than the limit per minute. The tier's burst allowance may
   * explain that.
   */
  readonly admitsBurst: boolean;
}

interface TierProgress {
  readonly limit: number;
  result: LimitResult | null;
}

/** The results of the tiers whose limits the probes of a run use up, by the recorder of the run. */
const progressOfRun = new WeakMap<Recorder, Record<LimitName, TierProgress[]>>();

/** Access to the results of all tiers in this run whose limit is smaller than that of the tier under test. */
export interface SmallerTiers {
  /** Sets the result of the tier under test. Later calls change nothing. */
  readonly report: (result: LimitResult) => void;
  /** Whether this value is true in the result of some smaller tier so far. */
  readonly some: (result: keyof LimitResult) => boolean;
  /** Advances the test clock until each smaller tier has a result. Does nothing without a test clock. */
  readonly awaitResults: (time: RunClock, stepMs: number) => Promise<void>;
}

/**
 * Adds the tier under test to those of the run. If a smaller tier has proved a breach, a larger tier stops a few
 * requests beyond its limit: thousands more would prove the same.
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
    awaitResults: async (time, stepMs) => {
      while (time.canAdvance && smaller().some((each) => each.result === null))
        await time.passTime(stepMs, "the hour of a smaller tier must be used up first");
    },
  };
}

const noBreach: LimitResult = { isOver: false, isShort: false, admitsBurst: false };

/**
 * Runs a probe that uses up a limit of the tier under test. A probe that sets no result, for example because it throws,
 * counts as one without a breach.
 */
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

/** Number of requests that a tier sends beyond its limit before it waits for the results of smaller tiers. */
export const maxBeyondLimit = 5;
