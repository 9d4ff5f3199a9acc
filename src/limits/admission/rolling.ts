import { capacityFor, type Fit, type Window } from "./families.ts";
import type { Span } from "./history.ts";
import { addRefusal, noRefusals } from "./refusals.ts";
import { countBelow, sortedBy } from "../../base/sorted.ts";
import type { Instants, AdmissionTimeline } from "./timeline.ts";

/**
 * A rolling log: a request is admitted when fewer than `capacity` were counted in the window that ends with it.
 * The admitted are refuted when their instants, taken in order and each as early as the ones before allow, run late.
 */
export function fitRolling(timeline: AdmissionTimeline, { windowMs, capacity }: Window): Fit | null {
  const needed = mostWithin(timeline.admitted, windowMs);
  const limit = capacityFor(capacity, needed);
  if (needed > limit) return null;
  if (capacity.kind === "exactly" && !timeline.layers.every((layer) => canBeSpaced(layer, windowMs, limit)))
    return null;
  const unexplained = noRefusals(timeline.refusals.length);
  timeline.refusals.forEach((refusal, index) => {
    const opensMs = refusal.fromMs - windowMs;
    const counted = refusal.countedBefore - countBelow(timeline.counted.latest, opensMs);
    if (opensMs > timeline.unseenUntilMs && counted < limit) addRefusal(unexplained, index);
  });
  return { unexplained };
}

/**
 * Whether instants can be chosen so that each lies at least a window after the one `limit` places before it. The n-th
 * instant in order of time lies between the n-th earliest start and the n-th earliest end, whichever request it is.
 */
function canBeSpaced({ earliest, latest }: Instants, windowMs: number, limit: number): boolean {
  const chosen = new Float64Array(earliest.length);
  for (let index = 0; index < earliest.length; index += 1) {
    const spaced = index >= limit ? (chosen[index - limit] ?? 0) + windowMs : -Infinity;
    chosen[index] = Math.max(earliest[index] ?? 0, spaced);
    if ((chosen[index] ?? 0) > (latest[index] ?? 0)) return false;
  }
  return true;
}

/**
 * The most admitted requests whose whole spans lie within less than so long, wherever that begins.
 * @param admitted in order of their earliest instants
 */
export function mostWithin(admitted: readonly Span[], windowMs: number): number {
  const sharp = admitted.filter((one) => one.toMs - one.fromMs < windowMs);
  const latest = sortedBy(sharp, (one) => one.toMs);
  let most = 0;
  let ended = 0;
  sharp.forEach((one, begun) => {
    while (ended < latest.length && (latest[ended] ?? Infinity) < one.fromMs + windowMs) ended += 1;
    most = Math.max(most, ended - begun);
  });
  return most;
}
