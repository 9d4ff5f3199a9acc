import { capacityFor, type Capacity, type Fit, type Window } from "./models.ts";
import type { PhaseRange } from "./phases.ts";
import { addRefusal, noRefusals } from "./refusals.ts";
import { requestsBefore, requestsUpTo, type TimedRefusal, type AdmissionTimeline } from "./timeline.ts";

/** The fixed windows of a history. Window 1 is the first that begins in the history, window 0 the one before. */
interface WindowGrid {
  readonly timeline: AdmissionTimeline;
  readonly windowMs: number;
  readonly phases: PhaseRange;
  readonly windows: number;
  /** For each window: at least this many requests were decided before the window opened. */
  readonly closedBefore: Float64Array;
  /** For each window: the maximum number of requests that were decided before the window closed. */
  readonly begunBefore: Float64Array;
}

/**
 * Returns the refusals that fixed windows cannot explain if the first starts within `phases`. If `weighted`, a window
 * also counts part of the previous window's requests.
 */
export function fitFixed(
  timeline: AdmissionTimeline,
  window: Window,
  phases: PhaseRange,
  weighted: boolean,
): Fit | null {
  const { windowMs, capacity } = window;
  const windows = Math.max(0, Math.ceil((timeline.endMs - timeline.startMs) / windowMs)) + 3;
  const limit = limitThatFits(timeline, windowMs, phases, windows, capacity);
  if (limit === null) return null;
  const grid = gridOf(timeline, windowMs, phases, windows);
  const unexplained = noRefusals(timeline.refusals.length);
  timeline.refusals.forEach((refusal, index) => {
    if (!isExplained(grid, refusal, limit, weighted)) addRefusal(unexplained, index);
  });
  return { unexplained };
}

const earliestWindow = (timeline: AdmissionTimeline, ms: number, windowMs: number, phases: PhaseRange) =>
  Math.floor((ms - timeline.startMs - phases.toMs) / windowMs) + 1;

const latestWindow = (timeline: AdmissionTimeline, ms: number, windowMs: number, phases: PhaseRange) =>
  Math.floor((ms - timeline.startMs - phases.fromMs) / windowMs) + 1;

function limitThatFits(
  timeline: AdmissionTimeline,
  windowMs: number,
  phases: PhaseRange,
  windows: number,
  capacity: Capacity,
): number | null {
  const certain = new Float64Array(windows);
  const either = new Float64Array(windows);
  for (const { fromMs, toMs, count } of timeline.admitted) {
    const first = earliestWindow(timeline, fromMs, windowMs, phases);
    const last = latestWindow(timeline, toMs, windowMs, phases);
    if (first === last) certain[first] = (certain[first] ?? 0) + count;
    else if (last === first + 1) either[first] = (either[first] ?? 0) + count;
  }
  const needed = certain.reduce((max, count) => Math.max(max, count), 0);
  const limit = capacityFor(capacity, needed);
  if (capacity.kind === "minimum") return limit;
  let carried = 0;
  for (let index = 0; index < windows; index += 1) {
    const room = limit - (certain[index] ?? 0) - carried;
    if (room < 0) return null;
    carried = Math.max(0, (either[index] ?? 0) - room);
  }
  return limit;
}

function gridOf(timeline: AdmissionTimeline, windowMs: number, phases: PhaseRange, windows: number): WindowGrid {
  const closedBefore = new Float64Array(windows);
  const begunBefore = new Float64Array(windows);
  for (let index = 0; index < windows; index += 1) {
    const opensMs = timeline.startMs + phases.fromMs + (index - 1) * windowMs;
    closedBefore[index] = requestsBefore(timeline.counted.latest, opensMs);
    begunBefore[index] = requestsUpTo(timeline.counted.earliest, timeline.startMs + phases.toMs + index * windowMs);
  }
  return { timeline, windowMs, phases, windows, closedBefore, begunBefore };
}

function isExplained(grid: WindowGrid, refusal: TimedRefusal, limit: number, weighted: boolean): boolean {
  const { timeline, windowMs, phases } = grid;
  const first = earliestWindow(timeline, refusal.fromMs, windowMs, phases);
  const last = Math.min(latestWindow(timeline, refusal.toMs, windowMs, phases), grid.windows - 1);
  for (let index = first; index <= last; index += 1) {
    const opensMs = timeline.startMs + phases.fromMs + (index - 1) * windowMs;
    if (opensMs - (weighted ? windowMs : 0) <= timeline.unknownUseUntilMs) return true;
    const counted = Math.min(refusal.countedBefore, grid.begunBefore[index] ?? 0) - (grid.closedBefore[index] ?? 0);
    if (counted >= limit) return true;
    if (weighted && counted + weightBefore(grid, index, refusal, counted) > limit - 1) return true;
  }
  return false;
}

function weightBefore(grid: WindowGrid, index: number, refusal: TimedRefusal, counted: number): number {
  const { timeline, windowMs, phases } = grid;
  if (index === 0) return 0;
  const opensAtLatestMs = timeline.startMs + phases.toMs + (index - 1) * windowMs;
  const elapsedMs = Math.max(0, refusal.fromMs - opensAtLatestMs);
  const closed = grid.closedBefore[index - 1] ?? 0;
  const inBoth = Math.min(refusal.countedBefore, grid.begunBefore[index] ?? 0) - closed;
  const before = Math.min((grid.begunBefore[index - 1] ?? 0) - closed, inBoth - Math.max(0, counted));
  return Math.max(0, before) * Math.max(0, 1 - elapsedMs / windowMs);
}
