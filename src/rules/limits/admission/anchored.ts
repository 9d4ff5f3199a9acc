import { addRefusal, raisedCapacity, type Fit, noRefusals, type Window } from "./models.ts";
import type { Span } from "./history.ts";
import type { PhaseRange } from "./fixed-windows.ts";
import { countBelow } from "../../../base/lists.ts";
import { requestsBefore, requestsUpTo, type TimedRefusal, type AdmissionTimeline } from "./timeline.ts";

/** A window whose start is not exactly known: it opens between `fromMs` and `toMs`. */
interface PossibleWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly closesAtLatestMs: number;
  readonly previousClosedByMs: number;
}

/**
 * Times of requests, sorted for fast lookup. They show when each rate-limit window can have opened, and how long
 * refusals can have kept it open.
 */
export interface Openers {
  /** For each request that can open a window, the latest time at which the server can have decided it, ascending. */
  readonly latest: Float64Array;
  /** Element `i`: a window that request `i` of `latest` or a later request opens does not open before this time. */
  readonly earliestStartFrom: Float64Array;
  /** For each admitted request, the earliest time at which the server can have decided it, ascending. */
  readonly starts: Float64Array;
  /** Element `i`: by this time, the server has certainly decided request `i` of `starts` or a later request. */
  readonly earliestEndFrom: Float64Array;
  /** When the server may have refused a request and so restarted a window. Empty if refusals restart no window. */
  readonly pushers: readonly Span[];
}

interface AnchoredWindow extends Window {
  readonly minCapacity: number;
}

/**
 * Returns the refusals that cannot be explained by windows that each open with a request. Returns `null` if such
 * windows cannot have admitted all admitted requests.
 *
 * @param firstEnd if a window was already open at `startMs`: when it ends, as a range in ms after `startMs`
 */
export function fitAnchored(
  timeline: AdmissionTimeline,
  openers: Openers,
  { windowMs, capacity, minCapacity }: AnchoredWindow,
  firstEnd: PhaseRange | null,
): Fit | null {
  const openings = possibleWindows(timeline, openers, windowMs, firstEnd);
  const needed = Math.max(minCapacity, maxInWindow(timeline, openings, windowMs));
  const limit = raisedCapacity(capacity, needed);
  if (needed > limit) return null;
  const unexplained = noRefusals(timeline.refusals.length);
  const windows = openings.map((opening) => countWindow(timeline, opening));
  const closes = Float64Array.from(windows, ({ closesAtLatestMs }) => closesAtLatestMs);
  timeline.refusals.forEach((refusal, index) => {
    const firstOpen = countBelow(closes, refusal.fromMs);
    if (!isExplained(timeline, windows, firstOpen, refusal, limit)) addRefusal(unexplained, index);
  });
  return { unexplained };
}

export function buildOpeners(timeline: AdmissionTimeline, mayOpen: readonly Span[], pushers: readonly Span[]): Openers {
  const byEnd = [...mayOpen].toSorted((left, right) => left.toMs - right.toMs);
  return {
    latest: Float64Array.from(byEnd, (one) => one.toMs),
    earliestStartFrom: minFromHere(byEnd.map((one) => one.fromMs)),
    starts: Float64Array.from(timeline.admitted, (one) => one.fromMs),
    earliestEndFrom: minFromHere(timeline.admitted.map((one) => one.toMs)),
    pushers: [...pushers].toSorted((left, right) => left.fromMs - right.fromMs),
  };
}

function minFromHere(values: readonly number[]): Float64Array {
  const min = Float64Array.from(values);
  for (let index = min.length - 2; index >= 0; index -= 1) {
    min[index] = Math.min(min[index] ?? Infinity, min[index + 1] ?? Infinity);
  }
  return min;
}

function possibleWindows(
  timeline: AdmissionTimeline,
  openers: Openers,
  windowMs: number,
  firstEnd: PhaseRange | null,
): PossibleWindow[] {
  const openings: PossibleWindow[] = [];
  const latestEndOf = createLatestEnd(openers.pushers, windowMs);
  let endsFromMs = timeline.startMs + (firstEnd?.fromMs ?? 0);
  let endsToMs = timeline.startMs + (firstEnd?.toMs ?? 0);
  if (firstEnd !== null) {
    const opened = { fromMs: endsFromMs - windowMs, toMs: endsToMs - windowMs };
    endsToMs = latestEndOf(endsToMs);
    openings.push({ ...opened, closesAtLatestMs: endsToMs, previousClosedByMs: timeline.startMs });
  }
  while (endsFromMs <= timeline.endMs) {
    const start = openers.earliestStartFrom[countBelow(openers.latest, endsFromMs)];
    if (start === undefined) break;
    const fromMs = Math.max(endsFromMs, start);
    const toMs = openers.earliestEndFrom[countBelow(openers.starts, endsToMs)] ?? Infinity;
    const previousClosedByMs = endsToMs;
    endsFromMs = fromMs + windowMs;
    endsToMs = latestEndOf(toMs + windowMs);
    openings.push({ fromMs, toMs, closesAtLatestMs: endsToMs, previousClosedByMs });
  }
  return openings;
}

function createLatestEnd(pushers: readonly Span[], windowMs: number): (endMs: number) => number {
  let next = 0;
  let pushedToMs = -Infinity;
  return (endMs) => {
    let closesMs = Math.max(endMs, pushedToMs);
    for (; next < pushers.length && (pushers[next]?.fromMs ?? Infinity) <= closesMs; next += 1) {
      pushedToMs = Math.max(pushedToMs, (pushers[next]?.toMs ?? 0) + windowMs);
      closesMs = Math.max(closesMs, pushedToMs);
    }
    return closesMs;
  };
}

function maxInWindow(timeline: AdmissionTimeline, openings: readonly PossibleWindow[], windowMs: number): number {
  let max = 0;
  let next = 0;
  for (const opening of openings) {
    const closesMs = opening.fromMs + windowMs;
    let inside = 0;
    while ((timeline.admitted[next]?.fromMs ?? Infinity) < opening.previousClosedByMs) next += 1;
    for (let index = next; (timeline.admitted[index]?.fromMs ?? Infinity) < closesMs; index += 1) {
      const { toMs = Infinity, count = 0 } = timeline.admitted[index] ?? {};
      if (toMs < closesMs) inside += count;
    }
    max = Math.max(max, inside);
  }
  return max;
}

interface CountedWindow extends PossibleWindow {
  readonly maxCountedBeforeEnd: number;
  readonly minCountedBeforeStart: number;
}

function countWindow(timeline: AdmissionTimeline, opening: PossibleWindow): CountedWindow {
  return {
    ...opening,
    maxCountedBeforeEnd: requestsUpTo(timeline.counted.earliest, opening.closesAtLatestMs),
    minCountedBeforeStart: requestsBefore(timeline.counted.latest, opening.fromMs),
  };
}

function isExplained(
  timeline: AdmissionTimeline,
  windows: readonly CountedWindow[],
  firstOpen: number,
  refusal: TimedRefusal,
  limit: number,
): boolean {
  for (let index = firstOpen; index < windows.length; index += 1) {
    const window = windows[index];
    if (window === undefined || window.fromMs > refusal.toMs) return false;
    if (window.fromMs <= timeline.unknownUseUntilMs) return true;
    if (Math.min(refusal.countedBefore, window.maxCountedBeforeEnd) - window.minCountedBeforeStart >= limit)
      return true;
  }
  return false;
}
