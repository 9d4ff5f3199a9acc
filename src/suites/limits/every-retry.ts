import { isHourLimit, isMinuteLimit } from "../../rules/limits/header-rules.ts";
import { isRefused, type Sample } from "../../rules/limits/sample.ts";
import { check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable } from "../../run/judge/finding.ts";
import { type AllSamples, allSamples, type KeySamples } from "../headers/probes.ts";
import { elapsedSeconds, mayOthersCountBetween, sortAndMarkOverlaps } from "../shared/compare-samples.ts";
import type { TierLimits } from "../../spec/tiers.ts";

/** Tolerance for rounding: servers may round `retry_after`, and the end of the window, to whole seconds. */
const slackSeconds = 2;

/** Whether a rate limit refused the request, not the concurrency limit or the month's tokens. */
const isRateRefusal = (sample: Sample, limits: TierLimits): boolean =>
  isRefused(sample) &&
  sample.remaining === 0 &&
  (isHourLimit(sample.limit, limits) || isMinuteLimit(sample.limit, limits));

function retriedRefusals({ samples, limits }: KeySamples, all: AllSamples) {
  if (limits === null) return [];
  const placed = sortAndMarkOverlaps(samples.filter(({ kind }) => kind !== "health"));
  return placed.flatMap(({ sample: refusal, isAfterAll, isBeforeNext }, index) => {
    const after = placed[index + 1];
    const seconds = refusal.retryAfterSeconds;
    if (after === undefined || seconds === null || !isAfterAll || !isBeforeNext) return [];
    const { sample: next } = after;
    if (!isRateRefusal(refusal, limits) || elapsedSeconds(refusal, next, all.hasClock).min < seconds + slackSeconds)
      return [];
    return mayOthersCountBetween(all, refusal, next) ? [] : [{ refusal, next }];
  });
}

/** Judges LIM-13: once `retry_after` has passed, the target admits the next request. */
export function judgeEveryRetry(all: AllSamples): Finding<never> {
  let count = 0;
  for (const key of all.keys) {
    for (const { refusal, next } of retriedRefusals(key, all)) {
      if (key.limits !== null && isRateRefusal(next, key.limits)) {
        const passed = elapsedSeconds(refusal, next, all.hasClock).min;
        return breach(
          `a request is admitted after \`retry_after\`, ${refusal.retryAfterSeconds} s`,
          `429, ${Math.floor(passed)} s after the refusal and with no request in between (${refusal.id}, ${next.id}, key ${key.key})`,
        );
      }
      if (next.status !== null && next.status < 500) count += 1;
    }
  }
  return count > 0
    ? holds()
    : inapplicable("no request was judged after a key was left alone for the `retry_after` of a refusal");
}

export const everyRetryCheck = check("LIM-13", allSamples, judgeEveryRetry, { as: "every refusal", since: "1.2" });
