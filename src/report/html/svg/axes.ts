import { sanitizeLine } from "../../../base/sanitize.ts";
import { type Html, html } from "../markup.ts";

export interface Axis {
  readonly label: string;
  readonly format: (value: number) => string;
}

/** The size of a chart (`width`, `height`) and the edges of the area between its axes, in SVG units. */
export interface PlotArea {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const plotArea: PlotArea = { width: 640, height: 300, left: 66, right: 626, top: 30, bottom: 240 };

/** Formats a coordinate with at most one decimal, so that a drawing with thousands of points has a small source. */
export const formatCoordinate = (value: number): string => String(Math.round(value * 10) / 10);

export const xAt = ({ left, right }: PlotArea, share: number): number => left + share * (right - left);
export const yAt = ({ top, bottom }: PlotArea, share: number): number => bottom - share * (bottom - top);

/** Minimum distance between the labels of two ticks, in SVG units. Closer labels would touch on a phone. */
const minTickLabelGap = 92;

export function drawAxes(x: Axis & { readonly scale: Scale }, y: Axis & { readonly scale: Scale }): Html {
  return html`<g class="axes"
    >${y.scale.ticks.map((tick) => {
      const at = formatCoordinate(yAt(plotArea, y.scale.at(tick)));
      return html`<path class="grid" d="M${plotArea.left} ${at}H${plotArea.right}" /><text
          x="${plotArea.left - 8}"
          y="${at}"
          class="y"
          >${y.format(tick)}</text
        >`;
    })}<text x="2" y="14" class="name">${sanitizeLine(y.label, 60)}</text>${drawXAxis(plotArea, x)}</g
  >`;
}

export function drawXAxis(plot: PlotArea, { label, format, scale }: Axis & { readonly scale: Scale }): Html {
  let last = -Infinity;
  const shown = scale.ticks
    .map((tick) => ({ tick, at: xAt(plot, scale.at(tick)) }))
    .filter(({ at }) => {
      if (at - last < minTickLabelGap) return false;
      last = at;
      return true;
    });
  return html`<path class="axis" d="M${plot.left} ${plot.bottom}H${plot.right}" />${shown.map(
      ({ tick, at }) =>
        html`<path class="axis" d="M${formatCoordinate(at)} ${plot.bottom}v5" /><text
            x="${formatCoordinate(at)}"
            y="${plot.bottom + 24}"
            class="x"
            >${format(tick)}</text
          >`,
    )}<text x="${plot.right}" y="${plot.height - 5}" class="name end">${sanitizeLine(label, 80)}</text>`;
}

/** A scale of an axis. `at` converts a value to a position: 0 is the beginning of the axis, and 1 its end. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Returns the smallest value, or `otherwise` if there is none. `Math.min(...values)` throws for very many values. */
export const lowestOf = (values: readonly number[], otherwise = 0): number =>
  values.reduce((low, value) => Math.min(low, value), values[0] ?? otherwise);
export const highestOf = (values: readonly number[], otherwise = 1): number =>
  values.reduce((high, value) => Math.max(high, value), values[0] ?? otherwise);

const tickSteps = [1, 2, 5, 10] as const;

export function linearScale(from: number, to: number, wanted: number, units: readonly number[] = []): Scale {
  // The span has a minimum: in a smaller span, floating-point rounding would make neighbouring ticks equal.
  const span = Math.max(to - from, Math.max(Math.abs(from), Math.abs(to)) * 1e-6, 1e-9);
  const step = units.find((unit) => span / unit <= wanted) ?? roundStep(span / wanted);
  const [first, last] = [Math.floor(from / step), Math.ceil(to / step - 1e-9)];
  const ticks = Array.from({ length: Math.max(1, last - first) + 1 }, (_, at) =>
    withoutRoundingError((first + at) * step),
  );
  const [low, high] = [ticks[0] ?? from, ticks.at(-1) ?? to];
  return { ticks, at: (value) => (value - low) / Math.max(high - low, Number.EPSILON) };
}

const minLogarithmicValue = 1e-9;

export function logarithmicScale(from: number, to: number): Scale {
  if (from < minLogarithmicValue) return logarithmicScale(minLogarithmicValue, Math.max(to, 10 * minLogarithmicValue));
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
  return (tickSteps.find((step) => step * power >= rough * 0.999) ?? 10) * power;
}

const withoutRoundingError = (value: number): number => Number(value.toPrecision(12));

export interface TimeAxisWithBreaks {
  readonly scale: Scale;
  /** The pauses that the axis shortens. `at` is the time at which a pause ends, and `pause` its real length. */
  readonly cuts: readonly { readonly at: number; readonly pause: number }[];
}

interface TimeStretch {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

/** Creates a time axis that shortens pauses: a pause longer than `maxPause` gets the length `shownPause`. */
export function timeAxisWithBreaks(
  times: readonly number[],
  {
    maxPause,
    shownPause,
    units,
  }: { readonly maxPause: number; readonly shownPause: number; readonly units: readonly number[] },
): TimeAxisWithBreaks {
  const stretches = splitAtPauses(times, maxPause, shownPause);
  const last = stretches.at(-1);
  const whole = Math.max(last === undefined ? 1 : last.offset + last.to - last.from, 1e-9);
  const at = (time: number): number => {
    const stretch = stretches.findLast(({ from }) => from <= time) ?? stretches[0];
    if (stretch === undefined) return 0;
    return Math.min(
      1,
      (stretch.offset + Math.min(Math.max(0, time - stretch.from), stretch.to - stretch.from + shownPause / 2)) / whole,
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

function splitAtPauses(times: readonly number[], maxPause: number, shownPause: number): TimeStretch[] {
  const stretches: TimeStretch[] = [];
  let [from = 0] = times;
  let to = from;
  let offset = 0;
  for (const time of times) {
    if (time - to > maxPause) {
      stretches.push({ from, to, offset });
      offset += to - from + shownPause;
      from = time;
    }
    to = Math.max(to, time);
  }
  return times.length === 0 ? [] : [...stretches, { from, to, offset }];
}
