import type { Fit } from "./models.ts";
import { addPossibility, isEmpty, isWithin, type RefusalSet } from "./refusals.ts";

/** A range of phases, in ms; with equal ends, one phase. */
export interface Phases {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What one range of phases allows; it must allow whatever any phase inside it does. */
export type FitPhases = (phases: Phases) => Fit | null;

/**
 * What limiters of any phase in `ranges` leave unexplained: the minimal sets of refusals, none where no phase fits
 * the admitted requests. A range that one of its own phases lives up to is settled; others are halved, `depth` times at
 * most, and what is then left open counts as possible.
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

/** How finely phases are told apart: more finely in a short history, where it matters and costs little. */
export function depthFor(requests: number): number {
  return Math.max(5, Math.min(9, Math.floor(Math.log2(16_000_000 / (requests + 1000)) - 4)));
}
