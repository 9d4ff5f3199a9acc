import type { Fit, Window } from "./models.ts";
import { addMinimalSet, isEmpty, isSubset, type RefusalSet } from "./refusals.ts";
import type { Span } from "./history.ts";

/** A range of phases. A phase is the time in ms from the start of the history to its first window. */
export interface PhaseRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Tests all phases of a range at once. A refusal is explained if at least one phase explains the refusal. */
export type FitPhases = (phases: PhaseRange) => Fit | null;

/** Halves the ranges to find phases that explain the history. Returns the smallest sets of unexplained refusals. */
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

/** Returns how often `searchPhases` may halve a range. Many requests get fewer halvings, to limit computing time. */
export function depthFor(requests: number): number {
  return Math.max(5, Math.min(9, Math.floor(Math.log2(16_000_000 / (requests + 1000)) - 4)));
}

export interface Announcement {
  readonly remaining: number;
  /** When the window is reset according to the headers, in ms of the limiter's clock. */
  readonly resetMs: number;
  readonly resetAfterSeconds: number;
}

const secondMs = 1000;
/** Maximum difference between two reports of the same reset, which servers may round differently. */
const maxApartMs = 2 * secondMs;
/**
 * Number of different `Remaining` values needed to prove fixed windows. `Reset-After` values `minSeconds` apart also
 * suffice.
 */
const minValues = 3;
const minSeconds = 10;

/**
 * Returns when a fixed window ends; `null` if the reported resets do not prove fixed windows. `unknownMs` is the
 * uncertainty of the limiter's clock.
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
 * Returns the ranges in which the first fixed window may begin. `announced`: when a window ends according to the
 * headers.
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
