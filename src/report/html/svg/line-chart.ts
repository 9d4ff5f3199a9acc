import { sanitizeLine } from "../../../base/sanitize.ts";
import { type Html, html } from "../markup.ts";
import { renderChart, type ChartTable, type LegendEntry, type Tone } from "./chart.ts";
import {
  type Axis,
  drawAxes,
  type PlotArea,
  createPlot,
  formatCoordinate,
  xAt,
  yAt,
  linearScale,
  logarithmicScale,
  type Scale,
} from "./axes.ts";

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
}

/** A series of points. `step` is a line that keeps its height until the next point. */
export interface ChartSeries {
  readonly name: string;
  readonly tone: Tone;
  readonly shape: "line" | "step" | "dots" | "crosses";
  readonly points: readonly ChartPoint[];
}

/** An area between two lines, such as the range of usual noise. */
export interface ChartBand {
  readonly name: string;
  readonly tone: Tone;
  readonly points: readonly { readonly x: number; readonly low: number; readonly high: number }[];
}

/** A horizontal line across the chart, such as a published limit. */
export interface ReferenceLine {
  readonly name: string;
  readonly y: number;
}

export interface VerticalLine {
  readonly name: string;
  readonly x: number;
  readonly tone: Tone;
}

export interface LineChart {
  readonly title: string;
  readonly says: string;
  readonly x: Axis & {
    /** Allowed distances between ticks, smallest first, such as 60, 300 and 3600 for seconds. */
    readonly units?: readonly number[];
    readonly scale?: Scale;
  };
  readonly y: Axis & { readonly scale?: "from zero" | "fitted" | "logarithmic" };
  readonly series: readonly ChartSeries[];
  readonly bands?: readonly ChartBand[];
  readonly referenceLines?: readonly ReferenceLine[];
  readonly verticalLines?: readonly VerticalLine[];
  readonly table: ChartTable;
}

export function renderLineChart(chart: LineChart): Html {
  const { title, says, series, bands = [], referenceLines = [], verticalLines = [], table } = chart;
  const plot = createPlot(300);
  const [x, y] = [xScale(chart), yScale(chart)];
  const place = { plot, x, y };
  const drawing = html`${drawAxes(plot, { ...chart.x, scale: x }, { ...chart.y, scale: y })}${bands.map((each) => drawBand(each, place))}${referenceLines.map(
    (each) => drawReferenceLine(each, place),
  )}${drawVerticalLines(verticalLines, place)}${series.map((each) => drawSeries(each, place))}`;
  const legend: LegendEntry[] = [
    ...series.map(({ name, tone, shape }) => ({ name, tone, sign: signsByShape[shape] })),
    ...bands.map(({ name, tone }) => ({ name, tone, sign: "band" as const })),
    ...referenceLines.slice(0, 1).map(({ name }) => ({ name, tone: "quiet" as const, sign: "dashed" as const })),
    ...verticalLines.slice(0, 1).map(({ name, tone }) => ({ name, tone, sign: "tick" as const })),
  ];
  return renderChart({ title, says, legend, table, width: plot.width, height: plot.height, drawing });
}

const signsByShape = { line: "line", step: "line", dots: "dot", crosses: "cross" } as const;

interface PlotScales {
  readonly plot: PlotArea;
  readonly x: Scale;
  readonly y: Scale;
}

function xScale({ series, bands = [], x: { units, scale } }: LineChart): Scale {
  if (scale !== undefined) return scale;
  const values = [
    ...series.flatMap(({ points }) => points.map(({ x }) => x)),
    ...bands.flatMap(({ points }) => points.map(({ x }) => x)),
  ];
  return linearScale(lowestOf(values), highestOf(values), 7, units);
}

function yScale({ series, bands = [], referenceLines = [], y: { scale } }: LineChart): Scale {
  const values = [
    ...series.flatMap(({ points }) => points.map(({ y }) => y)),
    ...bands.flatMap(({ points }) => points.flatMap(({ low, high }) => [low, high])),
    ...referenceLines.map(({ y }) => y),
  ];
  const above = values.filter((value) => value > 0);
  if (scale === "logarithmic" && above.length > 0) return logarithmicScale(lowestOf(above), highestOf(above));
  // Adds room at the top, so that a reference line does not overlap the axis label.
  const highest = highestOf(values) * (referenceLines.length > 0 ? 1.12 : 1);
  return linearScale(scale === "fitted" ? lowestOf(values) : Math.min(0, lowestOf(values)), highest, 5);
}

/** Returns the smallest value. `Math.min(...values)` would throw if there are very many. */
const lowestOf = (values: readonly number[]): number =>
  values.reduce((low, value) => Math.min(low, value), values[0] ?? 0);
const highestOf = (values: readonly number[]): number =>
  values.reduce((high, value) => Math.max(high, value), values[0] ?? 1);

const formatPoint = ({ plot, x, y }: PlotScales, point: ChartPoint): string =>
  `${formatCoordinate(xAt(plot, x.at(point.x)))} ${formatCoordinate(yAt(plot, y.at(point.y)))}`;

function drawSeries({ tone, shape, points }: ChartSeries, place: PlotScales): Html {
  switch (shape) {
    case "line":
      return html`<path
        class="line ${tone}"
        d="${points.map((point, at) => `${at === 0 ? "M" : "L"}${formatPoint(place, point)}`).join("")}"
      />`;
    case "step":
      return html`<path class="line ${tone}" d="${stepPath(points, place)}" />`;
    case "dots":
      // Draws all dots as one path of zero-length lines with round ends. Circles would make the page large.
      return html`<path
        class="dots ${tone}"
        d="${points.map((point) => `M${formatPoint(place, point)}h0`).join("")}"
      />`;
    case "crosses":
      return html`<path
        class="cross ${tone}"
        d="${points.map((point) => `M${formatPoint(place, point)}m-3.5-3.5l7 7m0-7l-7 7`).join("")}"
      />`;
  }
}

function stepPath(points: readonly ChartPoint[], place: PlotScales): string {
  const { plot, x, y } = place;
  return points
    .map((point, at) => {
      if (at === 0) return `M${formatPoint(place, point)}`;
      return `H${formatCoordinate(xAt(plot, x.at(point.x)))}V${formatCoordinate(yAt(plot, y.at(point.y)))}`;
    })
    .join("");
}

function drawBand({ tone, points }: ChartBand, place: PlotScales): Html {
  const upper = points.map(({ x, high }) => formatPoint(place, { x, y: high }));
  const lower = points.map(({ x, low }) => formatPoint(place, { x, y: low })).toReversed();
  return html`<path class="band ${tone}" d="M${[...upper, ...lower].join("L")}Z" />`;
}

function drawReferenceLine({ name, y: level }: ReferenceLine, { plot, y }: PlotScales): Html {
  const at = yAt(plot, y.at(level));
  return html`<path class="line dashed quiet" d="M${plot.left} ${formatCoordinate(at)}H${plot.right}" /><text
      x="${plot.right}"
      y="${formatCoordinate(at - 6)}"
      class="end rule"
      >${sanitizeLine(name, 60)}</text
    >`;
}

/** Minimum distance between the labels of two vertical lines, as a share of the axis. */
const minLabelGap = 0.25;

function drawVerticalLines(verticalLines: readonly VerticalLine[], place: PlotScales): Html[] {
  let last = -1;
  return verticalLines.map((line) => {
    const at = place.x.at(line.x);
    const isNamed = at - last >= minLabelGap || last < 0;
    if (isNamed) last = at;
    return drawVerticalLine(line, isNamed, place);
  });
}

function drawVerticalLine({ name, x: moment, tone }: VerticalLine, isNamed: boolean, { plot, x }: PlotScales): Html {
  const at = formatCoordinate(xAt(plot, x.at(moment)));
  const side = x.at(moment) > 0.6 ? "end" : "begin";
  const label = html`<text x="${at}" dx="${side === "end" ? -5 : 5}" y="${plot.bottom - 8}" class="${side} rule"
    >${sanitizeLine(name, 60)}</text
  >`;
  return html`<path class="line thin ${tone}" d="M${at} ${plot.top}V${plot.bottom}" />${isNamed && label}`;
}
