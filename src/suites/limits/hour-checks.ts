import { hourMs } from "../../base/duration.ts";
import { isHourLimit } from "../../rules/limits/header-rules.ts";
import { toleranceMs } from "../../rules/limits/key-history.ts";
import { isAdmitted, type Sample, sampleOf, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { headerNames } from "../../spec/headers.ts";
import { isSameWindow } from "../shared/compare-samples.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import type { HourExhausted } from "./hour-probe.ts";
import { maxAdmittedWithin } from "./key-history.ts";

export function judgeStreamBeyondHour(use: HourExhausted, isOver: boolean): Finding<never> {
  const { stream, afterStream, refused, limits: numbers, beganFresh } = use;
  if (stream === null) return inapplicable("without a test clock the hour is not exhausted alone");
  if (hasStatus(stream, 429)) return holds();
  if (!isSuccess(stream)) return inapplicable(`a stream of this agent gets ${outcomeOf(stream)}`);
  if (isOver) return unproven("more are admitted than published (LIM-3)");
  const before = refused.at(-1);
  if (before === undefined || afterStream === null || !hasStatus(before, 429) || !hasStatus(afterStream, 429))
    return unproven("the end of the hour, or requests that came back, may explain the stream");
  const [first, between, last] = [sampleOf(before), sampleOf(stream), sampleOf(afterStream)];
  const isOneWindow = isSameWindow(first, between) && isSameWindow(between, last) && isSameWindow(first, last);
  const isExhausted = [first, last].every(({ limit, remaining }) => remaining === 0 && isHourLimit(limit, numbers));
  if (!beganFresh || admittedInWindow(use, first) < numbers.perHour || !isOneWindow || !isExhausted)
    return unproven("the responses do not prove that the stream was in the exhausted hour");
  return breach(
    `a stream is refused too once ${numbers.perHour} requests of an hour are used`,
    `${outcomeOf(stream)}, while invokes before and after it are refused until the same \`X-RateLimit-Reset\``,
    before,
    stream,
    afterStream,
  );
}

function admittedInWindow({ samples }: HourExhausted, refusal: Sample): number {
  if (refusal.resetAfter === null) return 0;
  const windowMs = hourMs - refusal.resetAfter * 1000 + toleranceMs;
  // Compares only advances of the test clock, not real time. Some test clocks stand still between advances.
  const isInWindow = ({ headClockMs }: Sample): boolean =>
    headClockMs <= refusal.sentClockMs && refusal.sentClockMs - headClockMs <= windowMs;
  return samples.filter((each) => isAdmitted(each) && isInWindow(each)).length;
}

export function judgeRemainingOfHour(use: HourExhausted, isBroken: boolean): Finding<never> {
  const refusal = use.refused.findLast((each) => hasStatus(each, 429));
  if (refusal === undefined) return inapplicable("no request was refused with 429");
  const isReached = maxAdmittedWithin(use.samples, hourMs) >= use.limits.perHour;
  if (!isReached || isBroken) return inapplicable("the hour's limit does not explain the refusal");
  const remaining = wholeNumberHeader(refusal, headerNames.rateRemaining);
  if (remaining === null || !isHourLimit(wholeNumberHeader(refusal, headerNames.rateLimit), use.limits))
    return inapplicable("the headers of the 429 do not report the hour");
  return remaining === 0
    ? holds()
    : breach("`X-RateLimit-Remaining: 0`", `\`X-RateLimit-Remaining: ${remaining}\``, refusal);
}
