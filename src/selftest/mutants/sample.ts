import { seededNumbers, shuffled } from "../../base/statistics/random.ts";

/** Draws so many of the items by a seed, in their order; all where there are no more. The same seed draws the same places. */
export function drawSample<T>(items: readonly T[], most: number, seed: number): readonly T[] {
  if (items.length <= most) return items;
  const chosen = new Set(shuffled([...items.keys()], seededNumbers(seed)).slice(0, most));
  return items.filter((_, at) => chosen.has(at));
}
