import { capacityFor, type Fit, type Window } from "./models.ts";
import type { CountedSpan } from "./history.ts";
import { addRefusal, noRefusals } from "./refusals.ts";
import { below, inFirst, tallyOf, walkAlong } from "./tally.ts";
import type { Instants, AdmissionTimeline } from "./timeline.ts";

/**
 * A rolling log: a request is admitted when fewer than `capacity` were counted in the window that ends with it.
 * The admitted are refuted when their instants, taken in order and each as early as the ones before allow, run late.
 */
export function fitRolling(timeline: AdmissionTimeline, { windowMs, capacity }: Window): Fit | null {
  const needed = maxInHalfOpenWindow(timeline.admitted, windowMs);
  const limit = capacityFor(capacity, needed);
  if (needed > limit) return null;
  if (capacity.kind === "exactly" && !timeline.layers.every((layer) => canBeSpaced(layer, windowMs, limit)))
    return null;
  const unexplained = noRefusals(timeline.refusals.length);
  timeline.refusals.forEach((refusal, index) => {
    const opensMs = refusal.fromMs - windowMs;
    const counted = refusal.countedBefore - below(timeline.counted.latest, opensMs);
    if (opensMs > timeline.unknownUseUntilMs && counted < limit) addRefusal(unexplained, index);
  });
  return { unexplained };
}

/**
 * Whether instants can be chosen so that each lies at least a window after the one `limit` places before it. The n-th
 * instant in order of time lies between the n-th earliest start and the n-th earliest end, whichever request it is.
 */
function canBeSpaced({ earliest, latest }: Instants, windowMs: number, limit: number): boolean {
  // Instants chosen so far, and up to which rank each of them was: of many requests alike, many have the same.
  const chosen: number[] = [];
  const upToRank: number[] = [];
  const [earliestAt, latestAt] = [walkAlong(earliest), walkAlong(latest)];
  const all = inFirst(earliest, earliest.values.length);
  let spacing = 0;
  for (let rank = 0; rank < all;) {
    const own = earliestAt(rank);
    while ((upToRank[spacing] ?? Infinity) <= rank - limit) spacing += 1;
    const spacedMs = rank < limit ? -Infinity : (chosen[spacing] ?? 0) + windowMs;
    const chosenMs = Math.max(earliest.values[own] ?? 0, spacedMs);
    if (chosenMs > (latest.values[latestAt(rank)] ?? 0)) return false;
    rank = Math.min(inFirst(earliest, own + 1), limit + (rank < limit ? 0 : (upToRank[spacing] ?? Infinity)));
    chosen.push(chosenMs);
    upToRank.push(rank);
  }
  return true;
}

/**
 * The most admitted requests whose whole spans lie within less than so long, wherever that begins.
 * @param admitted in order of their earliest instants
 */
export function maxInHalfOpenWindow(admitted: readonly CountedSpan[], windowMs: number): number {
  const sharp = admitted.filter((one) => one.toMs - one.fromMs < windowMs);
  const latest = tallyOf(sharp, (one) => one.toMs);
  let most = 0;
  let begun = 0;
  let ended = 0;
  for (const { fromMs, count } of sharp) {
    while ((latest.values[ended] ?? Infinity) < fromMs + windowMs) ended += 1;
    most = Math.max(most, inFirst(latest, ended) - begun);
    begun += count;
  }
  return most;
}
