import type { Fit, Window } from "./models.ts";
import { addMinimalSet, isEmpty, isSubset, type RefusalSet } from "./refusals.ts";
import type { Span } from "./history.ts";

/**
 * A range of phases. A phase is the time in ms from the history's start to the start of the first rate-limit window.
 */
export interface PhaseRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Tests all phases in a range at once. The result contains the refusals that none of these phases explains. */
export type FitPhases = (phases: PhaseRange) => Fit | null;

/**
 * Halves the ranges, at most `depth` times, to find phases that explain refusals. Returns sets of unexplained refusals,
 * none of which contains another.
 */
export function searchPhases(ranges: readonly PhaseRange[], depth: number, fit: FitPhases): RefusalSet[] {
  const found: RefusalSet[] = [];
  let open: readonly PhaseRange[] = ranges;
  for (let level = 0; level <= depth && open.length > 0; level += 1) {
    const halves: PhaseRange[] = [];
    for (const phases of open) {
      const widest = fit(phases);
      if (widest === null || found.some((known) => isSubset(known, widest.unexplained))) continue;
      const middleMs = (phases.fromMs + phases.toMs) / 2;
      const sharp = fit({ fromMs: middleMs, toMs: middleMs });
      if (sharp !== null) addMinimalSet(found, sharp.unexplained);
      if (sharp !== null && isEmpty(sharp.unexplained)) return found;
      if (sharp !== null && isSubset(sharp.unexplained, widest.unexplained)) continue;
      if (level === depth) addMinimalSet(found, widest.unexplained);
      else halves.push({ fromMs: phases.fromMs, toMs: middleMs }, { fromMs: middleMs, toMs: phases.toMs });
    }
    open = halves;
  }
  return found;
}

/**
 * Returns the maximum number of halvings in `searchPhases`. The number is lower for many requests, to save computing
 * time.
 */
export function depthFor(requests: number): number {
  return Math.max(5, Math.min(9, Math.floor(Math.log2(16_000_000 / (requests + 1000)) - 4)));
}

export interface Announcement {
  readonly remaining: number;
  /** The reset time in the headers, in ms of the limiter's clock. */
  readonly resetMs: number;
  readonly resetAfterSeconds: number;
}

const secondMs = 1000;
/** Two reports of the same reset can differ by this much, because servers round times. */
const maxApartMs = 2 * secondMs;
/**
 * This many different `Remaining` values suffice to prove fixed windows. Two `Reset-After` values that differ by at
 * least `minSeconds` also suffice.
 */
const minValues = 3;
const minSeconds = 10;

/**
 * Returns the span in which a fixed window ends, widened by the clock's uncertainty `unknownMs`. Returns `null` if the
 * reported resets do not show that windows are fixed.
 */
export function announcedEnd(all: readonly Announcement[], windowMs: number, unknownMs: number): Span | null {
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

function isConclusive(usable: readonly Announcement[]): boolean {
  if (new Set(usable.map(({ remaining }) => remaining)).size >= minValues) return true;
  const min = usable.reduce((some, { resetAfterSeconds }) => Math.min(some, resetAfterSeconds), Infinity);
  const max = usable.reduce((some, { resetAfterSeconds }) => Math.max(some, resetAfterSeconds), -Infinity);
  return max - min >= minSeconds;
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
