import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { minuteMs } from "../../base/duration.ts";
import type { History } from "../../rules/limits/admission/history.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";
import type { TargetTime } from "./target-time.ts";

/**
 * Maximum time from the first to the last request. Shorter than a minute, so that no request has left a rolling minute.
 */
const maxSpanMs = 55_000;
const roundingSeconds = 1;
/** How much longer than necessary a `retry_after` may be, in ms: servers round it up, or add some seconds. */
const maxReportedExcessMs = 4000;
/**
 * Maximum number of the harness's own requests that the evidence does not list: two reads of usage, or one creation of
 * a webhook.
 */
const instrumentationRequests = 2;

/**
 * Finds a breach of the minute's limit in the first minute of a key. Returns `null` if there is none, if the key was
 * used before, or if the headers do not describe that minute.
 *
 * Counts the admitted requests whose headers report the same reset, and so the same minute. More than the minute and
 * the burst allow together are always a breach. A smaller number above the minute's limit is a breach only if both
 * conditions hold:
 * - A refusal reports that nothing is left until the reset.
 * - The server cannot have counted exactly as many requests as the burst has, or as the sum of both.
 */
export function findFirstMinuteBreach(
  sent: readonly SampledRequest[],
  history: History,
  limits: TierLimits,
  time: TargetTime,
): LimitBreach | null {
  const { perMinute, perHour, burst } = limits;
  const [first] = sent;
  if (history.priorUse !== "nothing" || burst === null || perMinute === perHour || first === undefined) return null;
  const endMs = time.at(first.sentMs).fromMs + maxSpanMs;
  const early = sent.filter((each) => each.kind !== "health" && time.at(each.headMs).toMs < endMs);
  const reset = early.find((each) => isAgentCall(each) && isAdmitted(each))?.reset ?? null;
  const isOfWindow = (each: SampledRequest): boolean =>
    each.limit === perMinute && reset !== null && Math.abs((each.reset ?? 0) - reset) <= roundingSeconds;
  const inWindow = early.filter((each) => isAgentCall(each) && isAdmitted(each) && isOfWindow(each));
  const admitted = inWindow.slice(countOfPreviousMinute(inWindow, perMinute, time));
  const over = (addition: string, more: readonly SampledRequest[]): LimitBreach => ({
    kind: "breach",
    breach: "too many admitted",
    limit: "minute",
    expected: `at max ${perMinute} requests in a minute, or ${perMinute + burst} where the burst comes on top of them`,
    actual: `${admitted.length} admitted in one minute, by the reset in the headers${addition}`,
    witness: [...admitted, ...more].map(({ id }) => id),
  });
  if (admitted.length > perMinute + burst + refillOf(admitted, perMinute, time)) return over("", []);
  if (admitted.length <= perMinute) return null;
  const waits = new Map(history.decisions.map(({ id, reportedWaitMs }) => [id, reportedWaitMs]));
  const refusal = early.find((each) => isRefused(each) && isOfWindow(each) && waits.get(each.id) !== undefined);
  if (refusal === undefined) return null;
  const others = early.filter((each) => each.sentMs <= refusal.headMs && each.id !== refusal.id);
  const refusedBefore = others.filter(isRefused).length;
  const gainsAfterMs = ((1 + refusedBefore) * minuteMs) / perMinute;
  if ((waits.get(refusal.id) ?? 0) <= gainsAfterMs + maxReportedExcessMs) return null;
  // The server's count may be higher than the number of admitted requests. It may include refused requests, and
  // requests of the harness that the evidence does not list.
  const max = Math.max(admitted.length, others.length + instrumentationRequests);
  const isNumber = [burst, perMinute + burst].some((number) => admitted.length <= number && number <= max);
  if (isNumber) return null;
  return over(", and then refused as used up", [refusal]);
}

/**
 * Returns how many requests the server may have counted in the previous minute, although the responses report this
 * minute. Such requests may have been sent before the minute began. Subtracts the requests that the headers count as
 * used in this minute.
 */
function countOfPreviousMinute(admitted: readonly SampledRequest[], perMinute: number, time: TargetTime): number {
  const firstHeadMs = admitted.reduce((min, { headMs }) => Math.min(min, headMs), Infinity);
  const doubtful = admitted.filter((each) => each.sentMs < firstHeadMs && mayPrecede(each, time));
  const reportedUsed = doubtful.reduce((max, { remaining }) => Math.max(max, perMinute - (remaining ?? perMinute)), 0);
  return Math.max(0, doubtful.length - reportedUsed);
}

/** Whether the minute that a response reports may have begun after its request was sent. */
function mayPrecede({ sentMs, headMs, resetAfter }: SampledRequest, time: TargetTime): boolean {
  const tookMs = time.at(headMs).toMs - time.at(sentMs).fromMs;
  return resetAfter === null || (resetAfter + roundingSeconds) * 1000 + tookMs > minuteMs;
}

/**
 * Returns by how many requests a bucket may refill during these requests. Adds a second at both ends, because the
 * target's clock is only known to about a second.
 */
function refillOf(admitted: readonly SampledRequest[], perMinute: number, time: TargetTime): number {
  const fromMs = admitted.reduce((min, { sentMs }) => Math.min(min, time.at(sentMs).fromMs), Infinity);
  const toMs = admitted.reduce((max, { headMs }) => Math.max(max, time.at(headMs).toMs), -Infinity);
  return admitted.length === 0 ? 0 : Math.ceil(((toMs - fromMs + 2000) * perMinute) / minuteMs);
}
