import {
  addMinimalSet,
  addRefusal,
  type Capacity,
  raisedCapacity,
  type Fit,
  isEmpty,
  isSubset,
  noRefusals,
  type RefusalSet,
  type Window,
} from "./models.ts";
import type { Span } from "./history.ts";
import { type AdmissionTimeline, requestsBefore, requestsUpTo, type TimedRefusal } from "./timeline.ts";

/** A range of phases of fixed windows. Phase 20,000: a window opens 20,000 ms after the start of the history. */
export interface PhaseRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Fits windows whose phase is anywhere in a range. The result contains the refusals that no phase of the range
 * explains; `null` if no phase permits all admitted requests.
 */
type FitPhases = (phases: PhaseRange) => Fit | null;

/**
 * Searches for phases that explain as many refusals as possible: halves the ranges, at most `depth` times. Returns the
 * sets of refusals that such phases leave unexplained. No set contains another.
 */
export function searchPhases(ranges: readonly PhaseRange[], depth: number, fit: FitPhases): RefusalSet[] {
  const found: RefusalSet[] = [];
  let undecided: readonly PhaseRange[] = ranges;
  for (let level = 0; level <= depth && undecided.length > 0; level += 1) {
    const halves: PhaseRange[] = [];
    for (const phases of undecided) {
      const ofRange = fit(phases);
      if (ofRange === null || found.some((known) => isSubset(known, ofRange.unexplained))) continue;
      const middleMs = (phases.fromMs + phases.toMs) / 2;
      const ofMiddle = fit({ fromMs: middleMs, toMs: middleMs });
      if (ofMiddle !== null) addMinimalSet(found, ofMiddle.unexplained);
      if (ofMiddle !== null && isEmpty(ofMiddle.unexplained)) return found;
      if (ofMiddle !== null && isSubset(ofMiddle.unexplained, ofRange.unexplained)) continue;
      if (level === depth) addMinimalSet(found, ofRange.unexplained);
      else halves.push({ fromMs: phases.fromMs, toMs: middleMs }, { fromMs: middleMs, toMs: phases.toMs });
    }
    undecided = halves;
  }
  return found;
}

/**
 * Returns the maximum number of halvings in `searchPhases`: 9 for up to about 950 requests, 5 for 15,000 or more.
 * Each halving can double the computing time.
 */
export function depthFor(requests: number): number {
  return Math.max(5, Math.min(9, Math.floor(Math.log2(16_000_000 / (requests + 1000)) - 4)));
}

export interface ReportedWindowState {
  readonly remaining: number;
  /** The time in the `Reset` header, in ms of the limiter's clock. */
  readonly resetMs: number;
  readonly resetAfterSeconds: number;
}

const secondMs = 1000;
/** Two reports of the same reset can differ by this much, because servers round times. */
const maxApartMs = 2 * secondMs;
/** Equal resets with this many different `Remaining` values prove fixed windows: requests do not move the reset. */
const minRemainingValues = 3;
/** Equal resets with `Reset-After` values this many seconds apart also prove fixed windows: time moves no reset. */
const minResetAfterSpreadSeconds = 10;

/**
 * Returns the earliest and latest time at which a fixed window ends. The limiter's clock is uncertain by `unknownMs`.
 * Returns `null` if the reported resets do not show that windows are fixed.
 */
export function announcedEnd(all: readonly ReportedWindowState[], windowMs: number, unknownMs: number): Span | null {
  const usable = all.filter(
    ({ resetAfterSeconds: after }) => after >= 1 && after * secondMs <= windowMs - 3 * secondMs,
  );
  const [first] = usable;
  if (first === undefined || !isConclusive(usable)) return null;
  let earliest = 0;
  let latest = 0;
  for (const { resetMs } of all) {
    const apart = reduceByWindows(resetMs - first.resetMs, windowMs);
    earliest = Math.min(earliest, apart);
    latest = Math.max(latest, apart);
    if (latest - earliest > maxApartMs) return null;
  }
  const slack = secondMs + unknownMs;
  return { fromMs: first.resetMs + earliest - slack, toMs: first.resetMs + latest + slack };
}

function isConclusive(usable: readonly ReportedWindowState[]): boolean {
  if (new Set(usable.map(({ remaining }) => remaining)).size >= minRemainingValues) return true;
  const min = usable.reduce((lowest, { resetAfterSeconds }) => Math.min(lowest, resetAfterSeconds), Infinity);
  const max = usable.reduce((highest, { resetAfterSeconds }) => Math.max(highest, resetAfterSeconds), -Infinity);
  return max - min >= minResetAfterSpreadSeconds;
}

/** Returns `ms` modulo `windowMs`, shifted to between `-windowMs / 2` and `windowMs / 2`. */
function reduceByWindows(ms: number, windowMs: number): number {
  return ms - Math.round(ms / windowMs) * windowMs;
}

/**
 * Returns the possible starts of the first fixed window, in ms after `startMs`. `announced`: when a window ends,
 * according to the headers.
 */
export function phasesOf({ windowMs }: Window, announced: Span | undefined, startMs: number): PhaseRange[] {
  const lengthMs = announced === undefined ? windowMs : announced.toMs - announced.fromMs;
  if (announced === undefined || lengthMs >= windowMs) return [{ fromMs: 0, toMs: windowMs }];
  const since = announced.fromMs - startMs;
  const fromMs = since - Math.floor(since / windowMs) * windowMs;
  const toMs = fromMs + lengthMs;
  if (toMs <= windowMs) return [{ fromMs, toMs }];
  return [
    { fromMs, toMs: windowMs },
    { fromMs: 0, toMs: toMs - windowMs },
  ];
}

/**
 * The fixed windows of a history. Window 1 is the first window that begins in the history, and window 0 is the window
 * before.
 */
interface WindowGrid {
  readonly timeline: AdmissionTimeline;
  readonly windowMs: number;
  readonly phases: PhaseRange;
  readonly windows: number;
  /** Per window: number of requests certainly decided before the window opened. The window cannot count them. */
  readonly surelyBeforeOpening: Float64Array;
  /** Per window: number of requests possibly decided before the window closed. Each decision's time is a range. */
  readonly possiblyBeforeClosing: Float64Array;
}

/**
 * Returns the refusals that fixed windows cannot explain if the first window starts within `phases`; `null` if such
 * windows cannot admit all admitted requests. If `weighted`, a window also counts part of the previous window.
 */
export function fitFixed(
  timeline: AdmissionTimeline,
  { windowMs, capacity }: Window,
  phases: PhaseRange,
  weighted: boolean,
): Fit | null {
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
  const limit = raisedCapacity(capacity, needed);
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
  const surelyBeforeOpening = new Float64Array(windows);
  const possiblyBeforeClosing = new Float64Array(windows);
  for (let index = 0; index < windows; index += 1) {
    const opensMs = timeline.startMs + phases.fromMs + (index - 1) * windowMs;
    surelyBeforeOpening[index] = requestsBefore(timeline.counted.latest, opensMs);
    possiblyBeforeClosing[index] = requestsUpTo(
      timeline.counted.earliest,
      timeline.startMs + phases.toMs + index * windowMs,
    );
  }
  return { timeline, windowMs, phases, windows, surelyBeforeOpening, possiblyBeforeClosing };
}

function isExplained(grid: WindowGrid, refusal: TimedRefusal, limit: number, weighted: boolean): boolean {
  const { timeline, windowMs, phases } = grid;
  const first = earliestWindow(timeline, refusal.fromMs, windowMs, phases);
  const last = Math.min(latestWindow(timeline, refusal.toMs, windowMs, phases), grid.windows - 1);
  for (let index = first; index <= last; index += 1) {
    const opensMs = timeline.startMs + phases.fromMs + (index - 1) * windowMs;
    if (opensMs - (weighted ? windowMs : 0) <= timeline.unknownUseUntilMs) return true;
    const counted =
      Math.min(refusal.countedBefore, grid.possiblyBeforeClosing[index] ?? 0) - (grid.surelyBeforeOpening[index] ?? 0);
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
  const surelyBefore = grid.surelyBeforeOpening[index - 1] ?? 0;
  const inBoth = Math.min(refusal.countedBefore, grid.possiblyBeforeClosing[index] ?? 0) - surelyBefore;
  const before = Math.min((grid.possiblyBeforeClosing[index - 1] ?? 0) - surelyBefore, inBoth - Math.max(0, counted));
  return Math.max(0, before) * Math.max(0, 1 - elapsedMs / windowMs);
}
