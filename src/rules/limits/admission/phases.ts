import type { Fit } from "./models.ts";
import { addMinimalSet, isEmpty, isSubset, type RefusalSet } from "./refusals.ts";

/**
 * A range of phases, in ms. The phase of a limiter is the time from the start of the history to the beginning of its
 * first window. With equal ends, the range is a single phase.
 */
export interface PhaseRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Fits all limiters with phases in a range at once. The result must allow everything that some phase of the range
 * allows.
 */
export type FitPhases = (phases: PhaseRange) => Fit | null;

/**
 * Returns the sets of refusals that limiters with phases in `ranges` leave unexplained. There is no set if none of
 * these limiters can have admitted the requests.
 *
 * A range is done if the phase in its middle explains as much as the whole range. Other ranges are halved up to `depth`
 * times, and then count as possible.
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
 * Returns how often to halve a range of phases. The fewer requests, the less a halving costs, and the more precise the
 * result must be.
 */
export function depthFor(requests: number): number {
  return Math.max(5, Math.min(9, Math.floor(Math.log2(16_000_000 / (requests + 1000)) - 4)));
}
