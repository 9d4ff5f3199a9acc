/** Where a value lies on an axis, from 0 (its beginning) to 1 (its end). */
export interface Scale {
  readonly at: (value: number) => number;
  /** Values that get a label, in order. */
  readonly ticks: readonly number[];
}

const steps = [1, 2, 5, 10] as const;

/** About `wanted` round values from 0 or `from` to `to` or a little beyond. */
export function linear(from: number, to: number, wanted: number, units: readonly number[] = []): Scale {
  // Values that differ by less than this are one: steps so small would be lost in rounding.
  const span = Math.max(to - from, Math.max(Math.abs(from), Math.abs(to)) * 1e-6, 1e-9);
  const step = units.find((unit) => span / unit <= wanted) ?? roundStep(span / wanted);
  const [first, last] = [Math.floor(from / step), Math.ceil(to / step - 1e-9)];
  const ticks = Array.from({ length: Math.max(1, last - first) + 1 }, (_, at) => tidy((first + at) * step));
  const [low, high] = [ticks[0] ?? from, ticks.at(-1) ?? to];
  return { ticks, at: (value) => (value - low) / Math.max(high - low, Number.EPSILON) };
}

/** Anything less is no measurement. */
const least = 1e-9;

/** Powers of ten, with 2 and 5 between them where the span is small. Both ends are above 0. */
export function logarithmic(from: number, to: number): Scale {
  if (from < least) return logarithmic(least, Math.max(to, 10 * least));
  const [low, high] = [
    Math.floor(Math.log10(from)),
    Math.max(Math.ceil(Math.log10(to)), Math.floor(Math.log10(from)) + 1),
  ];
  const every = Math.ceil((high - low) / 8);
  const powers = Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, at) => low + at * every);
  const between = high - low <= 3 ? [1, 2, 5] : [1];
  const ticks = powers
    .flatMap((power) => between.map((factor) => factor * 10 ** power))
    .filter((tick) => tick <= 10 ** high * 1.001);
  return { ticks, at: (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low) };
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return (steps.find((step) => step * power >= rough * 0.999) ?? 10) * power;
}

/** Without the dust that adding floating-point steps leaves. */
const tidy = (value: number): number => Number(value.toPrecision(12));
