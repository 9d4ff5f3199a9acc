/**
 * Decides which of many tests are significant, so that the chance of any false one among them is at most `share` (Holm, 1979). It holds however
 * the tests depend on each other.
 *
 * @param all number of tests; those that are not in `chances` count as 1
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
