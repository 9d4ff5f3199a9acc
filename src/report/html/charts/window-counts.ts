import type { ChartPoint } from "../svg/line-chart.ts";
import type { LimiterSample } from "./limiter-samples.ts";

/** How many were admitted, as a limiter with one kind of window would count them. */
export interface CountedWindow {
  readonly shape: "rolling" | "fixed";
  /** Admitted within the window, after each change. `x` in milliseconds of the target's time. */
  readonly line: readonly ChartPoint[];
  /** Each refusal, at the height of what had been admitted. */
  readonly refusals: readonly ChartPoint[];
  readonly most: number;
}

/**
 * Counts what was admitted within a window of so many seconds: over the last so many where that never goes beyond what is published, and otherwise
 * in windows with fixed ends, as the reset header tells them, where that fits better.
 */
export function countedWithin(seen: readonly LimiterSample[], windowSeconds: number, published: number): CountedWindow {
  const rolling = rollingCount(seen, windowSeconds * 1000);
  if (rolling.most <= published) return rolling;
  const fixed = fixedCount(seen, windowSeconds, published);
  return fixed.most < rolling.most ? fixed : rolling;
}

function rollingCount(seen: readonly LimiterSample[], windowMs: number): CountedWindow {
  const line: ChartPoint[] = [];
  const refusals: ChartPoint[] = [];
  const within: number[] = [];
  let most = 0;
  let oldest = 0;
  const dropUntil = (atMs: number): void => {
    for (let end = within[oldest]; end !== undefined && end <= atMs; end = within[oldest]) {
      oldest += 1;
      line.push({ x: end, y: within.length - oldest });
    }
  };
  for (const { atMs, decision } of seen) {
    dropUntil(atMs);
    if (line.length === 0) line.push({ x: atMs, y: 0 });
    if (decision === "refused") refusals.push({ x: atMs, y: within.length - oldest });
    if (decision !== "admitted") continue;
    within.push(atMs + windowMs);
    most = Math.max(most, within.length - oldest);
    line.push({ x: atMs, y: within.length - oldest });
  }
  return { shape: "rolling", line, refusals, most };
}

function fixedCount(seen: readonly LimiterSample[], windowSeconds: number, published: number): CountedWindow {
  const windowOf = windowsOf(seen, windowSeconds, published);
  const line: ChartPoint[] = [];
  const refusals: ChartPoint[] = [];
  let [count, most, current] = [0, 0, Number.NaN];
  for (const each of seen) {
    const window = windowOf(each);
    if (window !== current) {
      count = 0;
      current = window;
      line.push({ x: each.atMs, y: 0 });
    }
    if (each.decision === "refused") refusals.push({ x: each.atMs, y: count });
    if (each.decision !== "admitted") continue;
    count += 1;
    most = Math.max(most, count);
    line.push({ x: each.atMs, y: count });
  }
  return { shape: "fixed", line, refusals, most };
}

/** Number of the fixed window that an answer fell into: by its reset where its headers speak of this window, else by its date. */
export function windowsOf(
  seen: readonly LimiterSample[],
  windowSeconds: number,
  published: number,
): (each: LimiterSample) => number {
  const resetOf = ({ limit, reset, date }: LimiterSample): number | null => {
    const isOfWindow = limit === published && reset !== null && date !== null;
    return isOfWindow && reset >= date - 1 && reset <= date + windowSeconds + 1 ? reset : null;
  };
  const phase = mostFrequent(seen.map(resetOf).flatMap((reset) => (reset === null ? [] : [reset % windowSeconds])));
  let last = -Infinity;
  return (each) => {
    const reset = resetOf(each);
    const isEnd = reset !== null && reset % windowSeconds === phase;
    const window = isEnd
      ? (reset - phase) / windowSeconds - 1
      : Math.floor(((each.date ?? each.atMs / 1000) - phase) / windowSeconds);
    // Answers overtake each other; a window that is over does not come back.
    last = Math.max(last, window);
    return last;
  };
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 0;
}

/** The same line with no more points than a drawing of so many columns can show: of each column its first, least, highest and last. */
export function downsample(points: readonly ChartPoint[], columns: number): ChartPoint[] {
  const [first, last] = [points[0]?.x ?? 0, points.at(-1)?.x ?? 0];
  const width = Math.max(last - first, 1e-9) / columns;
  const kept: ChartPoint[] = [];
  for (const members of Map.groupBy(points, ({ x }) => Math.floor((x - first) / width)).values()) {
    const heights = members.map(({ y }) => y);
    const [low, high] = [
      heights.indexOf(heights.reduce((a, b) => Math.min(a, b))),
      heights.indexOf(heights.reduce((a, b) => Math.max(a, b))),
    ];
    const indexes = [...new Set([0, low, high, members.length - 1])].toSorted((one, other) => one - other);
    kept.push(...indexes.flatMap((at) => members[at] ?? []));
  }
  return kept.filter((point, at) => point.y !== kept[at - 1]?.y || point.y !== kept[at + 1]?.y);
}
