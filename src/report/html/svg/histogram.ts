import { type Html, html } from "../markup.ts";
import { renderChart, type ChartTable, type Tone } from "./chart.ts";
import {
  drawAxes,
  type PlotArea,
  createPlot,
  formatCoordinate,
  xAt,
  yAt,
  linearScale,
  logarithmicScale,
} from "./axes.ts";

/** A named group of values, all above 0. Each value stands for a share of the group; the shares add up to 1. */
export interface HistogramGroup {
  readonly name: string;
  readonly tone: Tone;
  readonly values: readonly { readonly value: number; readonly share: number }[];
}

export interface Histogram {
  readonly title: string;
  readonly says: string;
  /** Label of the axis, with the unit. */
  readonly label: string;
  readonly format: (value: number) => string;
  readonly groups: readonly HistogramGroup[];
  readonly table: ChartTable;
}

const binsPerDecade = 12;

/** Renders a histogram of several groups. Its axis is logarithmic, with twelve bins for each power of ten. */
export function renderHistogram({ title, says, label, format, groups, table }: Histogram): Html {
  const plot = createPlot(300);
  const all = groups.flatMap(({ values }) => values.map(({ value }) => value)).filter((value) => value > 0);
  const x = logarithmicScale(extremeValueOf(all, Math.min, 1), extremeValueOf(all, Math.max, 10));
  const binned = groups.map((group) => ({ ...group, bins: shareByBin(group) }));
  const highest = Math.max(0.01, ...binned.flatMap(({ bins }) => [...bins.values()]));
  const y = linearScale(0, highest * 100, 4);
  const drawing = html`${drawAxes(
    plot,
    { label, format, scale: x },
    { label: "% of the responses", format: String, scale: y },
  )}${binned.map(
    ({ tone, bins }, at) =>
      html`<path
        class="bar ${tone}"
        d="${[...bins]
          .toSorted(([one], [other]) => one - other)
          .map(([bin, share]) => barPath(plot, [bin, at, groups.length], x.at, y.at(share * 100)))
          .join("")}"
      />`,
  )}`;
  const legend = groups.map(({ name, tone }) => ({ name, tone, sign: "bar" as const }));
  return renderChart({ title, says, legend, table, width: plot.width, height: plot.height, drawing });
}

const extremeValueOf = (
  values: readonly number[],
  choose: (one: number, other: number) => number,
  otherwise: number,
): number => (values.length === 0 ? otherwise : values.reduce((found, value) => choose(found, value)));

function shareByBin({ values }: HistogramGroup): Map<number, number> {
  const bins = new Map<number, number>();
  for (const { value, share } of values) {
    const bin = Math.floor(Math.log10(Math.max(value, 1e-6)) * binsPerDecade);
    bins.set(bin, (bins.get(bin) ?? 0) + share);
  }
  return bins;
}

/** Returns the SVG path of a bar. `at` is its index among the `count` bars of a bin. */
function barPath(
  plot: PlotArea,
  [bin, at, count]: readonly [number, number, number],
  x: (value: number) => number,
  height: number,
): string {
  const edge = (part: number): number => xAt(plot, x(10 ** ((bin + part) / binsPerDecade)));
  const [left, right] = [edge(0) + 0.5, edge(1) - 0.5];
  const width = (right - left) / count;
  return `M${formatCoordinate(left + at * width)} ${plot.bottom}V${formatCoordinate(yAt(plot, height))}h${formatCoordinate(width)}V${plot.bottom}Z`;
}
