import { countBelow, countUpTo } from "../../../base/sorted.ts";
import type { Span } from "./history.ts";
import { maxInHalfOpenWindow } from "./rolling.ts";
import { inFirst, tallyOf, walkAlong } from "./tally.ts";
import type { AdmissionTimeline, Instants } from "./timeline.ts";

/** The longest span, in windows, over which admitted requests are counted. */
const mostWindows = 16;

/**
 * Returns the least capacity that can have admitted the admitted requests, for windows of at least `windowMs` that each open with a request. It
 * holds whenever they open, and however refusals prolong them.
 */
export const minCapacity = (timeline: AdmissionTimeline, windowMs: number): number =>
  Math.max(leastByLength(timeline, windowMs), leastByCause(timeline, windowMs));

/** A span shorter than n windows touches at most n + 1 of them, because all but the first and the last lie wholly inside. */
function leastByLength(timeline: AdmissionTimeline, windowMs: number): number {
  const lasted = Math.ceil((timeline.endMs - timeline.startMs) / windowMs);
  let least = 0;
  for (let windows = 1; windows <= Math.min(mostWindows, Math.max(1, lasted)); windows += 1) {
    const admitted = maxInHalfOpenWindow(timeline.admitted, windows * windowMs);
    least = Math.max(least, Math.ceil(admitted / (windows + 1)));
  }
  return least;
}

/**
 * A window ends one length after the request that opened or prolonged it. If there was no such request at that time, no window ended. Requests
 * that then lie within less than one length are in one window.
 */
function leastByCause({ admitted, counted, unknownUseUntilMs }: AdmissionTimeline, windowMs: number): number {
  const starts = tallyOf(admitted, ({ fromMs }) => fromMs);
  let least = 0;
  for (const quiet of quietIn(counted, unknownUseUntilMs)) {
    const first = countUpTo(starts.values, quiet.fromMs + windowMs);
    const end = countBelow(starts.values, quiet.toMs + windowMs);
    if (inFirst(starts, end) - inFirst(starts, first) <= least) continue;
    const inside = admitted.slice(first, end).filter(({ toMs }) => toMs < quiet.toMs + windowMs);
    least = Math.max(least, maxInHalfOpenWindow(inside, windowMs));
  }
  return least;
}

/** Returns the spans, ends excluded, in which no request that may count was decided: all earlier requests had been decided by then. */
function quietIn({ earliest, latest }: Instants, unseenUntilMs: number): Span[] {
  const quiet: Span[] = [];
  const latestAt = walkAlong(latest);
  for (let at = 0; at <= earliest.values.length; at += 1) {
    const endedMs = at === 0 ? -Infinity : (latest.values[latestAt(inFirst(earliest, at) - 1)] ?? -Infinity);
    const fromMs = Math.max(unseenUntilMs, endedMs);
    const toMs = earliest.values[at] ?? Infinity;
    if (fromMs < toMs) quiet.push({ fromMs, toMs });
  }
  return quiet;
}
