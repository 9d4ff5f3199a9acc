import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { minuteMs } from "../../base/duration.ts";
import type { History } from "../../rules/limits/admission/history.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";
import type { TargetTime } from "./target-time.ts";

/** Nothing has left a rolling minute by then. */
const longestMs = 55_000;
const roundingSeconds = 1;
/** What a server says of the time to wait may be rounded up, and hold some reserve. */
const reserveMs = 4000;
/** Usage and the webhook, which are asked for around a load and are not among its requests. */
const besides = 2;

/**
 * The first minute of a fresh key, by the target's own words: all its answers name one reset, and a refusal that nothing is left until then.
 * So no minute ended in between, no bucket filled up, and what was admitted is the number of the minute, of the burst or of both. More than
 * minute and burst together need no refusal. `null` where the numbers are kept, or where the answers do not say so.
 */
export function overFirstMinute(
  sent: readonly SampledRequest[],
  history: History,
  limits: TierLimits,
  time: TargetTime,
): LimitBreach | null {
  const { perMinute, perHour, burst } = limits;
  const [first] = sent;
  if (history.priorUse !== "nothing" || burst === null || perMinute === perHour || first === undefined) return null;
  const endMs = time.at(first.sentMs).fromMs + longestMs;
  const early = sent.filter((each) => each.kind !== "health" && time.at(each.headMs).toMs < endMs);
  const reset = early.find((each) => isAgentCall(each) && isAdmitted(each))?.reset ?? null;
  const isOfWindow = (each: SampledRequest): boolean =>
    each.limit === perMinute && reset !== null && Math.abs((each.reset ?? 0) - reset) <= roundingSeconds;
  const named = early.filter((each) => isAgentCall(each) && isAdmitted(each) && isOfWindow(each));
  const admitted = named.slice(ofMinuteBefore(named, perMinute, time));
  const over = (actual: string, more: readonly SampledRequest[]): LimitBreach => ({
    kind: "breach",
    breach: "too many admitted",
    limit: "minute",
    expected: `at most ${perMinute} requests in a minute, or ${perMinute + burst} where the burst comes on top of them`,
    actual: `${admitted.length} admitted in one minute, by the reset that the answers name${actual}`,
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
  if ((waits.get(refusal.id) ?? 0) <= gainsAfterMs + reserveMs) return null;
  // Other requests may have counted, those before the refusal at least.
  const most = Math.max(admitted.length, others.length + besides);
  const isNumber = [burst, perMinute + burst].some((number) => admitted.length <= number && number <= most);
  if (isNumber) return null;
  return over(", and then refused as used up", [refusal]);
}

/**
 * How many may have counted in the minute before: sent when that was not over yet, and answered in this one, they name its reset as well. They are
 * the first. Where their answers show so much as used up, they counted in this minute after all.
 */
function ofMinuteBefore(named: readonly SampledRequest[], perMinute: number, time: TargetTime): number {
  const firstHeadMs = named.reduce((least, { headMs }) => Math.min(least, headMs), Infinity);
  const doubtful = named.filter((each) => each.sentMs < firstHeadMs && mayPrecede(each, time));
  const shown = doubtful.reduce((most, { remaining }) => Math.max(most, perMinute - (remaining ?? perMinute)), 0);
  return Math.max(0, doubtful.length - shown);
}

/** Whether the minute of which an answer speaks may have begun after its request was sent. */
function mayPrecede({ sentMs, headMs, resetAfter }: SampledRequest, time: TargetTime): boolean {
  const tookMs = time.at(headMs).toMs - time.at(sentMs).fromMs;
  return resetAfter === null || (resetAfter + roundingSeconds) * 1000 + tookMs > minuteMs;
}

/** What a bucket gains while these are sent, with a second on either side for the target's clock. */
function refillOf(admitted: readonly SampledRequest[], perMinute: number, time: TargetTime): number {
  const fromMs = admitted.reduce((least, { sentMs }) => Math.min(least, time.at(sentMs).fromMs), Infinity);
  const toMs = admitted.reduce((most, { headMs }) => Math.max(most, time.at(headMs).toMs), -Infinity);
  return admitted.length === 0 ? 0 : Math.ceil(((toMs - fromMs + 2000) * perMinute) / minuteMs);
}
