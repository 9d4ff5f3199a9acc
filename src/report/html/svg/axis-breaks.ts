import type { Scale } from "./axes.ts";

/** A time axis from which long pauses are cut. */
export interface TimeAxisWithBreaks {
  readonly scale: Scale;
  /** Moments at which a pause was cut out, and how long it was. */
  readonly cuts: readonly { readonly at: number; readonly pause: number }[];
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  /** Where it begins on the axis, in units of time. */
  readonly offset: number;
}

/**
 * A scale over `times` (in order, of any unit) in which a pause longer than `longest` takes only `shown`.
 *
 * @param units steps that ticks may have within a stretch, least first
 */
export function timeAxisWithBreaks(
  times: readonly number[],
  { longest, shown, units }: { readonly longest: number; readonly shown: number; readonly units: readonly number[] },
): TimeAxisWithBreaks {
  const stretches = stretchesOf(times, longest, shown);
  const last = stretches.at(-1);
  const whole = Math.max(last === undefined ? 1 : last.offset + last.to - last.from, 1e-9);
  const at = (time: number): number => {
    const stretch = stretches.findLast(({ from }) => from <= time) ?? stretches[0];
    if (stretch === undefined) return 0;
    return Math.min(
      1,
      (stretch.offset + Math.min(Math.max(0, time - stretch.from), stretch.to - stretch.from + shown / 2)) / whole,
    );
  };
  const unit = units.find((each) => whole / each <= 8) ?? units.at(-1) ?? 1;
  const ticks = stretches.flatMap(({ from, to }) => {
    const first = Math.ceil(from / unit);
    const inside = Array.from(
      { length: Math.max(0, Math.floor(to / unit) - first + 1) },
      (_, each) => (first + each) * unit,
    );
    return stretches.length === 1 ? inside : [from, ...inside.filter((tick) => (tick - from) / whole > 0.1)];
  });
  const cuts = stretches
    .slice(1)
    .map(({ from }, index) => ({ at: from, pause: from - (stretches[index]?.to ?? from) }));
  return { scale: { at, ticks }, cuts };
}

function stretchesOf(times: readonly number[], longest: number, shown: number): Stretch[] {
  const stretches: Stretch[] = [];
  let [from = 0] = times;
  let to = from;
  let offset = 0;
  for (const time of times) {
    if (time - to > longest) {
      stretches.push({ from, to, offset });
      offset += to - from + shown;
      from = time;
    }
    to = Math.max(to, time);
  }
  return times.length === 0 ? [] : [...stretches, { from, to, offset }];
}
