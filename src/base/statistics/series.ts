import { doubledRanks, median, normalUpperTail } from "./samples.ts";
import { seededRandom } from "../numbers.ts";

/** A lasting jump in a series of numbers. `at` is the index of the first value after the jump. */
interface ChangePoint {
  readonly at: number;
  /** Probability that the same values in random order would show a jump as clear as this one, or clearer. */
  readonly pValue: number;
}

/**
 * Finds the index where a series jumps most clearly. Compares ranks, so that a single outlier has little weight.
 * Returns `null` if the series is too short.
 *
 * @param minSegment minimum number of values on either side of the jump
 * @param from first index to consider
 */
export function clearestChangeIndex(values: readonly number[], minSegment: number, from: number): number | null {
  const clearest = clearestOfRanks(ranksOf(values), minSegment, from);
  return clearest === null
    ? null
    : bestSplit(values, Math.max(from, minSegment), values.length - minSegment, clearest.at);
}

/** Ranks can place a jump a few values too early or too late. {@link bestSplit} moves it by at most this many. */
const maxRefinement = 4;

function bestSplit(values: readonly number[], lowest: number, highest: number, around: number): number {
  let best = { at: around, cost: Number.POSITIVE_INFINITY };
  for (let at = Math.max(lowest, around - maxRefinement); at <= Math.min(highest, around + maxRefinement); at += 1) {
    const cost = deviationOf(values.slice(0, at)) + deviationOf(values.slice(at));
    if (cost < best.cost) best = { at, cost };
  }
  return best.at;
}

function deviationOf(values: readonly number[]): number {
  const middle = median(values);
  return values.reduce((sum, value) => sum + Math.abs(value - middle), 0);
}

/** Finds the clearest jump in a series of ranks. `clarity` is the jump's rank-sum statistic, in standard deviations. */
function clearestOfRanks(
  ranks: readonly number[],
  minSegment: number,
  from = 0,
): { readonly at: number; readonly clarity: number } | null {
  const all = ranks.length;
  let best = { at: -1, clarity: -1 };
  let sum = 0;
  for (const [index, rank] of ranks.entries()) {
    sum += rank;
    const before = index + 1;
    if (before < minSegment || before < from || all - before < minSegment) continue;
    const clarity = Math.abs(sum) / Math.sqrt((before * (all - before) * all) / 12);
    if (clarity > best.clarity) best = { at: before, clarity };
  }
  return best.at < 0 ? null : best;
}

/** Returns the rank of each value, minus the mean of all ranks. Equal values get the mean of their ranks. */
const ranksOf = (values: readonly number[]): number[] =>
  doubledRanks(values).ranks.map((rank) => rank / 2 - (values.length + 1) / 2);

interface Segmentation {
  readonly minSegment: number;
  readonly maxPValue: number;
  readonly shuffles: number;
  readonly seed: number;
}

/**
 * Finds all lasting jumps by binary segmentation with a permutation test. Tests each segment as a whole and in
 * overlapping halves, because a rise and a fall within a segment can cancel out.
 */
export function changePoints(values: readonly number[], options: Segmentation): ChangePoint[] {
  const random = seededRandom(options.seed);
  const within = (from: number, to: number): ChangePoint[] => {
    for (const [start, end] of overlappingSpans(from, to)) {
      const part = values.slice(start, end);
      const ranks = ranksOf(part);
      const found = clearestOfRanks(ranks, options.minSegment);
      if (found === null) continue;
      const pValue = chanceOfChange(ranks, found.clarity, options, random);
      const at = start + found.at;
      if (pValue <= options.maxPValue && at - from >= options.minSegment && to - at >= options.minSegment)
        return [...within(from, at), { at, pValue }, ...within(at, to)];
    }
    return [];
  };
  const found = within(0, values.length);
  // Moves each jump by at most `maxRefinement`, to its best position between the previous and the next jump.
  return found.map(({ at, pValue }, place) => {
    const [from, to] = [found[place - 1]?.at ?? 0, found[place + 1]?.at ?? values.length];
    const part = values.slice(from, to);
    return { at: from + bestSplit(part, options.minSegment, part.length - options.minSegment, at - from), pValue };
  });
}

function overlappingSpans(from: number, to: number): (readonly [number, number])[] {
  const half = Math.ceil((to - from) / 2);
  const quarter = Math.floor(half / 2);
  return [
    [from, to],
    ...[0, quarter, 2 * quarter].map((offset) => [from + offset, Math.min(to, from + offset + half)] as const),
  ];
}

function chanceOfChange(
  ranks: readonly number[],
  clarity: number,
  { minSegment, maxPValue, shuffles }: Segmentation,
  random: () => number,
): number {
  const shuffled = [...ranks];
  let asClear = 1;
  for (let at = 0; at < shuffles; at += 1) {
    shuffle(shuffled, random);
    if ((clearestOfRanks(shuffled, minSegment)?.clarity ?? 0) >= clarity) asClear += 1;
    if (asClear / (shuffles + 1) > maxPValue) break;
  }
  return asClear / (shuffles + 1);
}

function shuffle(values: number[], random: () => number): void {
  for (let at = values.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const kept = values[at] ?? 0;
    values[at] = values[other] ?? 0;
    values[other] = kept;
  }
}

export interface Trend {
  /** Theil-Sen estimate of the change from one value to the next: the median of the slopes of all pairs of values. */
  readonly slope: number;
  /** One-sided p-value of the Mann-Kendall test. A small value shows that the series rises. */
  readonly pValue: number;
}

export function trendOf(values: readonly number[]): Trend {
  const slopes: number[] = [];
  let rising = 0;
  values.forEach((from, index) => {
    for (let to = index + 1; to < values.length; to += 1) {
      const difference = (values[to] ?? from) - from;
      slopes.push(difference / (to - index));
      rising += Math.sign(difference);
    }
  });
  const n = values.length;
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const pValue = deviation === 0 ? 1 : normalUpperTail((rising - Math.sign(rising)) / deviation);
  return { slope: slopes.length === 0 ? 0 : median(slopes), pValue };
}
