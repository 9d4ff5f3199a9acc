import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { minuteMs } from "../../base/duration.ts";
import type { History } from "../../rules/limits/admission/history.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";
import type { TargetTime } from "./target-time.ts";

/**
 * Only requests in this many ms after the first request are judged. In that time, a rolling minute forgets no request.
 */
const maxSpanMs = 55_000;
const roundingSeconds = 1;
/** How much longer than necessary a `retry_after` may be, in ms: servers round it up, or add some seconds. */
const maxReportedExcessMs = 4000;
/** Maximum number of requests that the harness sends without recording them, such as reads of usage. */
const instrumentationRequests = 2;

/** Finds a breach of the limit per minute in a fresh key's first minute; `null` if none is proven. */
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
  // Upper bound of the server's count. The server can also count refused requests and the harness's own requests.
  const max = Math.max(admitted.length, others.length + instrumentationRequests);
  const isNumber = [burst, perMinute + burst].some((number) => admitted.length <= number && number <= max);
  if (isNumber) return null;
  return over(", and then refused as used up", [refusal]);
}

/**
 * Returns how many requests can belong to the previous minute. A minute can end between counting a request and writing
 * its response headers.
 */
function countOfPreviousMinute(admitted: readonly SampledRequest[], perMinute: number, time: TargetTime): number {
  const firstHeadMs = admitted.reduce((min, { headMs }) => Math.min(min, headMs), Infinity);
  const doubtful = admitted.filter((each) => each.sentMs < firstHeadMs && mayPrecede(each, time));
  const reportedUsed = doubtful.reduce((max, { remaining }) => Math.max(max, perMinute - (remaining ?? perMinute)), 0);
  return Math.max(0, doubtful.length - reportedUsed);
}

function mayPrecede({ sentMs, headMs, resetAfter }: SampledRequest, time: TargetTime): boolean {
  const tookMs = time.at(headMs).toMs - time.at(sentMs).fromMs;
  return resetAfter === null || (resetAfter + roundingSeconds) * 1000 + tookMs > minuteMs;
}

/** Returns the tokens that a bucket can gain from first request to last response. Adds 1 s of tolerance at each end. */
function refillOf(admitted: readonly SampledRequest[], perMinute: number, time: TargetTime): number {
  const fromMs = admitted.reduce((min, { sentMs }) => Math.min(min, time.at(sentMs).fromMs), Infinity);
  const toMs = admitted.reduce((max, { headMs }) => Math.max(max, time.at(headMs).toMs), -Infinity);
  return admitted.length === 0 ? 0 : Math.ceil(((toMs - fromMs + 2000) * perMinute) / minuteMs);
}
