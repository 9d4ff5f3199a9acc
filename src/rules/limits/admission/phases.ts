import type { Fit } from "./models.ts";
import { addPossibility, isEmpty, isWithin, type RefusalSet } from "./refusals.ts";

/**
 * A range of phases, in ms. A phase is when the first window begins, counted from the start of the history. If both
 * ends are equal, it is a single phase.
 */
export interface Phases {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Fits the limiters of a range of phases. The result must allow everything that any phase in the range allows. */
export type FitPhases = (phases: Phases) => Fit | null;

/**
 * Returns the sets of refusals that limiters with phases in `ranges` leave unexplained. There is no set if none of them
 * can have admitted the requests. A range needs no further search if its middle explains everything that the whole
 * range explains. Other ranges are halved up to `depth` times, and then count as possible.
 */
export function searchPhases(ranges: readonly Phases[], depth: number, fit: FitPhases): RefusalSet[] {
  const found: RefusalSet[] = [];
  let open: readonly Phases[] = ranges;
  for (let level = 0; level <= depth && open.length > 0; level += 1) {
    const halves: Phases[] = [];
    for (const phases of open) {
      const widest = fit(phases);
      if (widest === null || found.some((known) => isWithin(known, widest.unexplained))) continue;
      const middleMs = (phases.fromMs + phases.toMs) / 2;
      const sharp = fit({ fromMs: middleMs, toMs: middleMs });
      if (sharp !== null) addPossibility(found, sharp.unexplained);
      if (sharp !== null && isEmpty(sharp.unexplained)) return found;
      if (sharp !== null && isWithin(sharp.unexplained, widest.unexplained)) continue;
      if (level === depth) addPossibility(found, widest.unexplained);
      else halves.push({ fromMs: phases.fromMs, toMs: middleMs }, { fromMs: middleMs, toMs: phases.toMs });
    }
    open = halves;
  }
  return found;
}

/**
 * Returns how often to halve a range of phases. With few requests, more halvings cost little, and precision matters
 * more.
 */
export function depthFor(requests: number): number {
  return Math.max(5, Math.min(9, Math.floor(Math.log2(16_000_000 / (requests + 1000)) - 4)));
}
