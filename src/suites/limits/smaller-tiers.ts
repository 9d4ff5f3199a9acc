import type { TierProbeContext } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { LimitName } from "../../rules/limits/admission/models.ts";
import type { TierLimits } from "../../spec/tiers.ts";

/** Result of a probe that used up one limit of a tier. */
interface LimitResult {
  /** Whether the requests prove that the tier admits more than it publishes. */
  readonly isOver: boolean;
  /** Whether the tier refused a request before its limit was reached. */
  readonly isShort: boolean;
  /** Whether one burst exceeded the limit per minute. The tier's burst allowance may explain that. */
  readonly admitsBurst: boolean;
}

interface TierProgress {
  readonly limit: number;
  result: LimitResult | null;
}

/** The tiers whose limits the probes of a run use up, by the recorder of the run. */
const progressOfRun = new WeakMap<Recorder, Record<LimitName, TierProgress[]>>();

/** Results of the tiers of this run whose limit is smaller than that of the tier under test. */
export interface SmallerTiers {
  /** Sets the result of the tier under test. Later calls change nothing. */
  readonly report: (result: LimitResult) => void;
  /** Whether some smaller tier has this result so far. */
  readonly some: (result: keyof LimitResult) => boolean;
  /** Advances the test clock until each smaller tier has a result. Does nothing without a test clock. */
  readonly awaitResults: (time: RunClock, stepMs: number) => Promise<void>;
}

/**
 * Adds the tier under test to those of the run. Once a smaller tier has proved a breach, a larger one stops a few
 * requests beyond its limit, because thousands more would prove the same.
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
 * Runs a probe that uses up a limit of the tier under test. If the probe sets no result, for example because it throws,
 * the result is no breach.
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

/** Number of requests beyond its limit after which a tier waits for the results of smaller tiers. */
export const maxBeyondLimit = 5;
