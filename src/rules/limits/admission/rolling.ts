import { addRefusal, raisedCapacity, type Fit, noRefusals, type Window } from "./models.ts";
import type { CountedSpan, Span } from "./history.ts";
import {
  requestsBefore,
  requestsInFirstEntries,
  tallyOf,
  createRankLookup,
  type Instants,
  type AdmissionTimeline,
} from "./timeline.ts";
import { countBelow, countUpTo } from "../../../base/lists.ts";

/**
 * Returns the refusals that a rolling window cannot explain; `null` if such a window cannot have admitted all admitted
 * requests.
 */
export function fitRolling(timeline: AdmissionTimeline, { windowMs, capacity }: Window): Fit | null {
  const needed = maxInHalfOpenWindow(timeline.admitted, windowMs);
  const limit = raisedCapacity(capacity, needed);
  if (needed > limit) return null;
  if (capacity.kind === "exactly" && !timeline.layers.every((layer) => canBeSpaced(layer, windowMs, limit)))
    return null;
  const unexplained = noRefusals(timeline.refusals.length);
  timeline.refusals.forEach((refusal, index) => {
    const opensMs = refusal.fromMs - windowMs;
    const counted = refusal.countedBefore - requestsBefore(timeline.counted.latest, opensMs);
    if (opensMs > timeline.unknownUseUntilMs && counted < limit) addRefusal(unexplained, index);
  });
  return { unexplained };
}

/**
 * Whether each request can be given a time between its `earliest` and its `latest`, so that no window contains more
 * than `limit` requests.
 */
function canBeSpaced({ earliest, latest }: Instants, windowMs: number, limit: number): boolean {
  // If `upToRank` is `[3, 5]`, the first three requests get the time `chosen[0]`, and the next two get `chosen[1]`.
  const chosen: number[] = [];
  const upToRank: number[] = [];
  const [earliestAt, latestAt] = [createRankLookup(earliest), createRankLookup(latest)];
  const all = requestsInFirstEntries(earliest, earliest.values.length);
  let spacing = 0;
  for (let rank = 0; rank < all;) {
    const own = earliestAt(rank);
    while ((upToRank[spacing] ?? Infinity) <= rank - limit) spacing += 1;
    const spacedMs = rank < limit ? -Infinity : (chosen[spacing] ?? 0) + windowMs;
    const chosenMs = Math.max(earliest.values[own] ?? 0, spacedMs);
    if (chosenMs > (latest.values[latestAt(rank)] ?? 0)) return false;
    rank = Math.min(
      requestsInFirstEntries(earliest, own + 1),
      limit + (rank < limit ? 0 : (upToRank[spacing] ?? Infinity)),
    );
    chosen.push(chosenMs);
    upToRank.push(rank);
  }
  return true;
}

/**
 * Returns the largest number of requests that certainly fell into one half-open window. `admitted` must be sorted by
 * `fromMs`.
 */
function maxInHalfOpenWindow(admitted: readonly CountedSpan[], windowMs: number): number {
  const shortSpans = admitted.filter((one) => one.toMs - one.fromMs < windowMs);
  const latest = tallyOf(shortSpans, (one) => one.toMs);
  let max = 0;
  let begun = 0;
  let ended = 0;
  for (const { fromMs, count } of shortSpans) {
    while ((latest.values[ended] ?? Infinity) < fromMs + windowMs) ended += 1;
    max = Math.max(max, requestsInFirstEntries(latest, ended) - begun);
    begun += count;
  }
  return max;
}

/** Length of the longest period that `minByCounting` examines, in windows. Limits the computing time. */
const maxWindows = 16;

/** Returns a lower bound of the limiter's capacity per window: the higher of the bounds found by two methods. */
export const minCapacity = (timeline: AdmissionTimeline, windowMs: number): number =>
  Math.max(minByCounting(timeline, windowMs), minByGaps(timeline, windowMs));

/**
 * Returns a lower bound of the limiter's capacity per window. A period of two minutes overlaps at most three one-minute
 * windows. So one of them admitted at least a third of the period's requests.
 */
function minByCounting(timeline: AdmissionTimeline, windowMs: number): number {
  const lasted = Math.ceil((timeline.endMs - timeline.startMs) / windowMs);
  let min = 0;
  for (let windows = 1; windows <= Math.min(maxWindows, Math.max(1, lasted)); windows += 1) {
    const admitted = maxInHalfOpenWindow(timeline.admitted, windows * windowMs);
    min = Math.max(min, Math.ceil(admitted / (windows + 1)));
  }
  return min;
}

/**
 * Returns a lower bound of the limiter's capacity per window. Only a request opens a window, so none opens in a pause
 * from 10 s to 50 s. An earlier one-minute window ends by 70 s, and the next one ends no earlier than 110 s. So all
 * requests from 70 s to 110 s are in one window.
 */
function minByGaps({ admitted, counted, unknownUseUntilMs }: AdmissionTimeline, windowMs: number): number {
  const starts = tallyOf(admitted, ({ fromMs }) => fromMs);
  let min = 0;
  for (const gap of gapsIn(counted, unknownUseUntilMs)) {
    const first = countUpTo(starts.values, gap.fromMs + windowMs);
    const end = countBelow(starts.values, gap.toMs + windowMs);
    if (requestsInFirstEntries(starts, end) - requestsInFirstEntries(starts, first) <= min) continue;
    const inside = admitted.slice(first, end).filter(({ toMs }) => toMs < gap.toMs + windowMs);
    min = Math.max(min, maxInHalfOpenWindow(inside, windowMs));
  }
  return min;
}

function gapsIn({ earliest, latest }: Instants, unknownUseUntilMs: number): Span[] {
  const gaps: Span[] = [];
  const latestAt = createRankLookup(latest);
  for (let at = 0; at <= earliest.values.length; at += 1) {
    const endedMs =
      at === 0 ? -Infinity : (latest.values[latestAt(requestsInFirstEntries(earliest, at) - 1)] ?? -Infinity);
    const fromMs = Math.max(unknownUseUntilMs, endedMs);
    const toMs = earliest.values[at] ?? Infinity;
    if (fromMs < toMs) gaps.push({ fromMs, toMs });
  }
  return gaps;
}
