import { sanitizeLine } from "../../../base/sanitize.ts";
import { type Html, html } from "../markup.ts";
import { type ChartParts, type LegendEntry, renderChart, type SeriesColour } from "./chart.ts";
import {
  type Axis,
  drawAxes,
  formatCoordinate,
  highestOf,
  linearScale,
  lowestOf,
  plotArea,
  type Scale,
  xAt,
  yAt,
} from "./axes.ts";

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
}

/** A series of points in a chart. The shape `step` is a line that keeps its height until the next point. */
export interface ChartSeries {
  readonly name: string;
  readonly tone: SeriesColour;
  readonly shape: "line" | "step" | "dots" | "crosses";
  readonly points: readonly ChartPoint[];
}

/** An area between a lower and an upper line, such as the usual range of a latency. */
interface ChartBand {
  readonly name: string;
  readonly tone: SeriesColour;
  readonly points: readonly { readonly x: number; readonly low: number; readonly high: number }[];
}

/** A horizontal line across the chart, such as a published limit. */
interface ReferenceLine {
  readonly name: string;
  readonly y: number;
}

export interface VerticalLine {
  readonly name: string;
  readonly x: number;
  readonly tone: SeriesColour;
}

interface LineChart extends Pick<ChartParts, "title" | "says" | "table"> {
  readonly x: Axis & {
    /** Preferred distances between ticks, smallest first, such as 60, 300 and 3600 for seconds. */
    readonly units?: readonly number[];
    readonly scale?: Scale;
  };
  readonly y: Axis & { readonly scale?: "from zero" | "fitted" };
  readonly series: readonly ChartSeries[];
  readonly bands?: readonly ChartBand[];
  readonly referenceLines?: readonly ReferenceLine[];
  readonly verticalLines?: readonly VerticalLine[];
}

export function renderLineChart(chart: LineChart): Html {
  const { title, says, series, bands = [], referenceLines = [], verticalLines = [], table } = chart;
  const [x, y] = [xScale(chart), yScale(chart)];
  const scales = { x, y };
  const drawing = html`${drawAxes({ ...chart.x, scale: x }, { ...chart.y, scale: y })}${bands.map((each) => drawBand(each, scales))}${referenceLines.map(
    (each) => drawReferenceLine(each, scales),
  )}${drawVerticalLines(verticalLines, scales)}${series.map((each) => drawSeries(each, scales))}`;
  const legend: LegendEntry[] = [
    ...series.map(({ name, tone, shape }) => ({ name, tone, sign: signsByShape[shape] })),
    ...bands.map(({ name, tone }) => ({ name, tone, sign: "band" as const })),
    ...referenceLines.slice(0, 1).map(({ name }) => ({ name, tone: "quiet" as const, sign: "dashed" as const })),
    ...verticalLines.slice(0, 1).map(({ name, tone }) => ({ name, tone, sign: "tick" as const })),
  ];
  return renderChart({ title, says, legend, table, plot: plotArea, drawing });
}

const signsByShape = { line: "line", step: "line", dots: "dot", crosses: "cross" } as const;

interface PlotScales {
  readonly x: Scale;
  readonly y: Scale;
}

function xScale({ series, bands = [], x: { units, scale } }: LineChart): Scale {
  if (scale !== undefined) return scale;
  const values = [...series, ...bands].flatMap(({ points }) => points.map(({ x }) => x));
  return linearScale(lowestOf(values), highestOf(values), 7, units);
}

function yScale({ series, bands = [], referenceLines = [], y: { scale } }: LineChart): Scale {
  const values = [
    ...series.flatMap(({ points }) => points.map(({ y }) => y)),
    ...bands.flatMap(({ points }) => points.flatMap(({ low, high }) => [low, high])),
    ...referenceLines.map(({ y }) => y),
  ];
  // Adds space at the top, so that the name of a reference line does not overlap the label of the axis.
  const highest = highestOf(values) * (referenceLines.length > 0 ? 1.12 : 1);
  return linearScale(scale === "fitted" ? lowestOf(values) : Math.min(0, lowestOf(values)), highest, 5);
}

const formatPoint = ({ x, y }: PlotScales, point: ChartPoint): string =>
  `${formatCoordinate(xAt(plotArea, x.at(point.x)))} ${formatCoordinate(yAt(plotArea, y.at(point.y)))}`;

function drawSeries({ tone, shape, points }: ChartSeries, scales: PlotScales): Html {
  switch (shape) {
    case "line":
      return html`<path
        class="line ${tone}"
        d="${points.map((point, at) => `${at === 0 ? "M" : "L"}${formatPoint(scales, point)}`).join("")}"
      />`;
    case "step":
      return html`<path class="line ${tone}" d="${stepPath(points, scales)}" />`;
    case "dots":
      // Draws all dots as one path of zero-length lines with round ends. Circles would make the page large.
      return html`<path
        class="dots ${tone}"
        d="${points.map((point) => `M${formatPoint(scales, point)}h0`).join("")}"
      />`;
    case "crosses":
      return html`<path
        class="cross ${tone}"
        d="${points.map((point) => `M${formatPoint(scales, point)}m-3.5-3.5l7 7m0-7l-7 7`).join("")}"
      />`;
  }
}

function stepPath(points: readonly ChartPoint[], scales: PlotScales): string {
  const { x, y } = scales;
  return points
    .map((point, at) => {
      if (at === 0) return `M${formatPoint(scales, point)}`;
      return `H${formatCoordinate(xAt(plotArea, x.at(point.x)))}V${formatCoordinate(yAt(plotArea, y.at(point.y)))}`;
    })
    .join("");
}

function drawBand({ tone, points }: ChartBand, scales: PlotScales): Html {
  const upper = points.map(({ x, high }) => formatPoint(scales, { x, y: high }));
  const lower = points.map(({ x, low }) => formatPoint(scales, { x, y: low })).toReversed();
  return html`<path class="band ${tone}" d="M${[...upper, ...lower].join("L")}Z" />`;
}

function drawReferenceLine({ name, y: level }: ReferenceLine, { y }: PlotScales): Html {
  const at = yAt(plotArea, y.at(level));
  return html`<path class="line dashed quiet" d="M${plotArea.left} ${formatCoordinate(at)}H${plotArea.right}" /><text
      x="${plotArea.right}"
      y="${formatCoordinate(at - 6)}"
      class="end rule"
      >${sanitizeLine(name, 60)}</text
    >`;
}

/** Minimum distance between the labels of two vertical lines, as a share of the axis. Closer lines get no label. */
const minLabelGap = 0.25;

function drawVerticalLines(verticalLines: readonly VerticalLine[], scales: PlotScales): Html[] {
  let last = -1;
  return verticalLines.map((line) => {
    const at = scales.x.at(line.x);
    const isNamed = at - last >= minLabelGap || last < 0;
    if (isNamed) last = at;
    return drawVerticalLine(line, isNamed, scales);
  });
}

function drawVerticalLine({ name, x: moment, tone }: VerticalLine, isNamed: boolean, { x }: PlotScales): Html {
  const at = formatCoordinate(xAt(plotArea, x.at(moment)));
  const side = x.at(moment) > 0.6 ? "end" : "begin";
  const label = html`<text x="${at}" dx="${side === "end" ? -5 : 5}" y="${plotArea.bottom - 8}" class="${side} rule"
    >${sanitizeLine(name, 60)}</text
  >`;
  return html`<path class="line thin ${tone}" d="M${at} ${plotArea.top}V${plotArea.bottom}" />${isNamed && label}`;
}
