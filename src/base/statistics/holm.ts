/**
 * Which of many tests may be believed, so that chance alone makes one or more of them come true with no more than `share` in all (Holm,
 * 1979). Holds however the tests depend on each other.
 *
 * @param all how many tests there were; those that are not in `chances` are taken for 1
 */
export function significantByHolm(chances: readonly number[], share: number, all = chances.length): boolean[] {
  const order = chances.map((chance, at) => ({ chance, at })).toSorted((a, b) => a.chance - b.chance);
  const believed = chances.map(() => false);
  for (const [place, { chance, at }] of order.entries()) {
    if (chance > share / (all - place)) break;
    believed[at] = true;
  }
  return believed;
}
