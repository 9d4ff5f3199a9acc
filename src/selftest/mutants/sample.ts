/** Draws so many of the items by a seed, in their order; all where there are no more. The same seed draws the same places. */
export function drawn<T>(items: readonly T[], most: number, seed: number): readonly T[] {
  if (items.length <= most) return items;
  const next = randomOf(seed);
  const places = items.map((_, at) => ({ at, weight: next() })).toSorted((one, other) => one.weight - other.weight);
  const chosen = new Set(places.slice(0, most).map(({ at }) => at));
  return items.filter((_, at) => chosen.has(at));
}

/** Numbers from 0 to 1 by a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
