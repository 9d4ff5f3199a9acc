import { sanitizeLine } from "../../../base/sanitize.ts";
import { type Html, html } from "../markup.ts";
import { renderChart, type ChartTable, type Legend, type Tone } from "./chart.ts";
import { type Axis, axes, type Plot, plotOf, px, xIn, yIn, linear, logarithmic, type Scale } from "./axes.ts";

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
}

/** Points of one name. `step` keeps its height until the next point; `dots` and `crosses` are not joined. */
export interface Series {
  readonly name: string;
  readonly tone: Tone;
  readonly shape: "line" | "step" | "dots" | "crosses";
  readonly points: readonly ChartPoint[];
}

/** An area between two lines, such as what is usual noise. */
export interface Band {
  readonly name: string;
  readonly tone: Tone;
  readonly points: readonly { readonly x: number; readonly low: number; readonly high: number }[];
}

/** A level across the whole chart, such as a published limit. */
export interface ReferenceLine {
  readonly name: string;
  readonly y: number;
}

/** A moment across the whole height, such as the night of a change. */
export interface VerticalLine {
  readonly name: string;
  readonly x: number;
  readonly tone: Tone;
}

export interface LineChart {
  readonly title: string;
  readonly says: string;
  readonly x: Axis & {
    /** Steps that ticks may have, least first, where round decimals are not what a reader expects: of times 60, 300, 3600. */
    readonly units?: readonly number[];
    /** In the place of a plain axis: of times from which pauses are cut. */
    readonly scale?: Scale;
  };
  readonly y: Axis & { readonly scale?: "from zero" | "fitted" | "logarithmic" };
  readonly series: readonly Series[];
  readonly bands?: readonly Band[];
  readonly rules?: readonly ReferenceLine[];
  readonly moments?: readonly VerticalLine[];
  readonly table: ChartTable;
}

/** Lines, steps and dots over an axis of numbers, with bands, levels and moments. Empty where there is nothing to draw. */
export function lineChart(chart: LineChart): Html {
  const { title, says, series, bands = [], rules = [], moments = [], table } = chart;
  const plot = plotOf(300);
  const [x, y] = [xScale(chart), yScale(chart)];
  const place = { plot, x, y };
  const drawing = html`${axes(plot, { ...chart.x, scale: x }, { ...chart.y, scale: y })}${bands.map((each) => bandOf(each, place))}${rules.map(
    (each) => ruleOf(each, place),
  )}${momentsOf(moments, place)}${series.map((each) => seriesOf(each, place))}`;
  const legend: Legend[] = [
    ...series.map(({ name, tone, shape }) => ({ name, tone, sign: signs[shape] })),
    ...bands.map(({ name, tone }) => ({ name, tone, sign: "band" as const })),
    ...rules.slice(0, 1).map(({ name }) => ({ name, tone: "quiet" as const, sign: "dashed" as const })),
    ...moments.slice(0, 1).map(({ name, tone }) => ({ name, tone, sign: "tick" as const })),
  ];
  return renderChart({ title, says, legend, table, width: plot.width, height: plot.height, drawing });
}

const signs = { line: "line", step: "line", dots: "dot", crosses: "cross" } as const;

interface Place {
  readonly plot: Plot;
  readonly x: Scale;
  readonly y: Scale;
}

function xScale({ series, bands = [], x: { units, scale } }: LineChart): Scale {
  if (scale !== undefined) return scale;
  const values = [
    ...series.flatMap(({ points }) => points.map(({ x }) => x)),
    ...bands.flatMap(({ points }) => points.map(({ x }) => x)),
  ];
  return linear(least(values), most(values), 7, units);
}

function yScale({ series, bands = [], rules = [], y: { scale } }: LineChart): Scale {
  const values = [
    ...series.flatMap(({ points }) => points.map(({ y }) => y)),
    ...bands.flatMap(({ points }) => points.flatMap(({ low, high }) => [low, high])),
    ...rules.map(({ y }) => y),
  ];
  const above = values.filter((value) => value > 0);
  if (scale === "logarithmic" && above.length > 0) return logarithmic(least(above), most(above));
  // A level at the very top would lie under the names that stand there.
  const highest = most(values) * (rules.length > 0 ? 1.12 : 1);
  return linear(scale === "fitted" ? least(values) : Math.min(0, least(values)), highest, 5);
}

/** Not by spreading: a list of points may be longer than what a call takes. */
const least = (values: readonly number[]): number =>
  values.reduce((low, value) => Math.min(low, value), values[0] ?? 0);
const most = (values: readonly number[]): number =>
  values.reduce((high, value) => Math.max(high, value), values[0] ?? 1);

const pointIn = ({ plot, x, y }: Place, point: ChartPoint): string =>
  `${px(xIn(plot, x.at(point.x)))} ${px(yIn(plot, y.at(point.y)))}`;

function seriesOf({ tone, shape, points }: Series, place: Place): Html {
  switch (shape) {
    case "line":
      return html`<path
        class="line ${tone}"
        d="${points.map((point, at) => `${at === 0 ? "M" : "L"}${pointIn(place, point)}`).join("")}"
      />`;
    case "step":
      return html`<path class="line ${tone}" d="${stepPath(points, place)}" />`;
    case "dots":
      // Lines without length, with round ends: hundreds of circles would be most of a page.
      return html`<path class="dots ${tone}" d="${points.map((point) => `M${pointIn(place, point)}h0`).join("")}" />`;
    case "crosses":
      return html`<path
        class="cross ${tone}"
        d="${points.map((point) => `M${pointIn(place, point)}m-3.5-3.5l7 7m0-7l-7 7`).join("")}"
      />`;
  }
}

function stepPath(points: readonly ChartPoint[], place: Place): string {
  const { plot, x, y } = place;
  return points
    .map((point, at) => {
      if (at === 0) return `M${pointIn(place, point)}`;
      return `H${px(xIn(plot, x.at(point.x)))}V${px(yIn(plot, y.at(point.y)))}`;
    })
    .join("");
}

function bandOf({ tone, points }: Band, place: Place): Html {
  const upper = points.map(({ x, high }) => pointIn(place, { x, y: high }));
  const lower = points.map(({ x, low }) => pointIn(place, { x, y: low })).toReversed();
  return html`<path class="band ${tone}" d="M${[...upper, ...lower].join("L")}Z" />`;
}

function ruleOf({ name, y: level }: ReferenceLine, { plot, y }: Place): Html {
  const at = yIn(plot, y.at(level));
  return html`<path class="line dashed quiet" d="M${plot.left} ${px(at)}H${plot.right}" /><text
      x="${plot.right}"
      y="${px(at - 6)}"
      class="end rule"
      >${sanitizeLine(name, 60)}</text
    >`;
}

/** Labels closer than this would lie on each other. */
const minLabelGap = 0.25;

function momentsOf(moments: readonly VerticalLine[], place: Place): Html[] {
  let last = -1;
  return moments.map((moment) => {
    const at = place.x.at(moment.x);
    const isNamed = at - last >= minLabelGap || last < 0;
    if (isNamed) last = at;
    return momentOf(moment, isNamed, place);
  });
}

function momentOf({ name, x: moment, tone }: VerticalLine, isNamed: boolean, { plot, x }: Place): Html {
  const at = px(xIn(plot, x.at(moment)));
  const side = x.at(moment) > 0.6 ? "end" : "begin";
  const label = html`<text x="${at}" dx="${side === "end" ? -5 : 5}" y="${plot.bottom - 8}" class="${side} rule"
    >${sanitizeLine(name, 60)}</text
  >`;
  return html`<path class="line thin ${tone}" d="M${at} ${plot.top}V${plot.bottom}" />${isNamed && label}`;
}
