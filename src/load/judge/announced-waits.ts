import { countBelow } from "../../base/sorted.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";
import type { TargetTime } from "./target-time.ts";

/** Nobody waits for a slot for so long. */
const leastSeconds = 4;
/** `retry_after` and `Reset-After` are rounded each in its own way, and so is `Reset`. */
const mostApartSeconds = 2;

/**
 * How long refusals say that a published window is used up, by request, in ms of the target. Only where a refusal shows nothing left, gives
 * the window's reset as the time to wait, an admitted answer of the same window showed it all but used up as well, and no request was
 * admitted before that time was over. So a server whose refusals for a slot say the same of a window with room in it is not taken at its word.
 */
export function announcedWaits(
  sent: readonly SampledRequest[],
  limits: TierLimits,
  time: TargetTime,
): ReadonlyMap<string, number> {
  const waits = new Map<string, number>();
  const lowest = lowestShown(sent);
  const admitted = sent.filter((each) => isAgentCall(each) && isAdmitted(each));
  const sentMs = Float64Array.from(admitted, (each) => each.sentMs).toSorted();
  for (const refusal of sent) {
    const seconds = saidOf(refusal, limits);
    if (seconds === null || !(leastNear(lowest, refusal) <= limits.concurrent)) continue;
    const nextMs = sentMs[countBelow(sentMs, refusal.headMs)];
    const isKept =
      nextMs === undefined ||
      time.at(nextMs).fromMs - time.at(refusal.headMs).toMs >= (seconds - mostApartSeconds) * 1000;
    if (isKept) waits.set(refusal.id, seconds * 1000);
  }
  return waits;
}

/** What a refusal says of a published window that is used up, in seconds; `null` where it does not speak of one. */
function saidOf(refusal: SampledRequest, { perMinute, perHour, concurrent }: TierLimits): number | null {
  const { limit, remaining, resetAfter, retryAfterSeconds } = refusal;
  if (!isRefused(refusal) || remaining !== 0 || resetAfter === null || retryAfterSeconds === null) return null;
  if ((limit !== perMinute && limit !== perHour) || limit === concurrent) return null;
  const isOfWindow = Math.abs(retryAfterSeconds - resetAfter) <= mostApartSeconds;
  return isOfWindow && retryAfterSeconds >= leastSeconds ? retryAfterSeconds : null;
}

const nameOf = (limit: number | null, reset: number): string => `${limit} ${reset}`;

/** The lowest `Remaining` that admitted answers of each window showed. */
function lowestShown(sent: readonly SampledRequest[]): ReadonlyMap<string, number> {
  const lowest = new Map<string, number>();
  for (const each of sent) {
    const { limit, remaining, reset } = each;
    if (!isAgentCall(each) || !isAdmitted(each) || remaining === null || reset === null) continue;
    const name = nameOf(limit, reset);
    lowest.set(name, Math.min(lowest.get(name) ?? Infinity, remaining));
  }
  return lowest;
}

const leastNear = (lowest: ReadonlyMap<string, number>, { limit, reset }: SampledRequest): number =>
  Math.min(...[-1, 0, 1].map((apart) => lowest.get(nameOf(limit, (reset ?? 0) + apart)) ?? Infinity));
