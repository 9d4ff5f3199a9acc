import { countBelow, countUpTo } from "../../../base/sorted.ts";
import type { Span } from "./history.ts";
import { maxInHalfOpenWindow } from "./rolling.ts";
import { requestsInFirst, tallyOf, createRankLookup } from "./tally.ts";
import type { AdmissionTimeline, Instants } from "./timeline.ts";

/** Maximum length, in windows, of the spans whose admitted requests are counted. */
const maxWindows = 16;

/**
 * Returns a lower bound of the capacity with which a limiter can have admitted the requests. Its windows are at least
 * `windowMs` long, and each opens with a request. The bound holds wherever the windows open, and however refusals
 * prolong them.
 */
export const minCapacity = (timeline: AdmissionTimeline, windowMs: number): number =>
  Math.max(minByCounting(timeline, windowMs), minByGaps(timeline, windowMs));

/**
 * Returns a lower bound of the capacity by counting. A span shorter than n windows touches at most n + 1 of them, so
 * one of these admitted at least its share of the requests.
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
 * Returns a lower bound of the capacity from gaps without requests. Only a request opens or prolongs a window, so no
 * window can end one window's length after a gap. All requests of that time are in one window.
 */
function minByGaps({ admitted, counted, unknownUseUntilMs }: AdmissionTimeline, windowMs: number): number {
  const starts = tallyOf(admitted, ({ fromMs }) => fromMs);
  let min = 0;
  for (const gap of gapsIn(counted, unknownUseUntilMs)) {
    const first = countUpTo(starts.values, gap.fromMs + windowMs);
    const end = countBelow(starts.values, gap.toMs + windowMs);
    if (requestsInFirst(starts, end) - requestsInFirst(starts, first) <= min) continue;
    const inside = admitted.slice(first, end).filter(({ toMs }) => toMs < gap.toMs + windowMs);
    min = Math.max(min, maxInHalfOpenWindow(inside, windowMs));
  }
  return min;
}

/**
 * Returns the gaps in which the limiter cannot have decided any request that may count. A gap begins when all earlier
 * requests have certainly been decided. Both ends are excluded.
 */
function gapsIn({ earliest, latest }: Instants, unseenUntilMs: number): Span[] {
  const gap: Span[] = [];
  const latestAt = createRankLookup(latest);
  for (let at = 0; at <= earliest.values.length; at += 1) {
    const endedMs = at === 0 ? -Infinity : (latest.values[latestAt(requestsInFirst(earliest, at) - 1)] ?? -Infinity);
    const fromMs = Math.max(unseenUntilMs, endedMs);
    const toMs = earliest.values[at] ?? Infinity;
    if (fromMs < toMs) gap.push({ fromMs, toMs });
  }
  return gap;
}
