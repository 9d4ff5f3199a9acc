import { decodeFromCompressedBase64 } from "hdr-histogram-js/dist/encoding.js";

import { quantile } from "../../../base/statistics/samples.ts";
import { formatCount } from "../../../base/text.ts";
import type { LatencyHistogram, LoadEvidence } from "../../../evidence/load-evidence.ts";
import { renderChart, type ChartTable, type Tone } from "../svg/chart.ts";
import {
  drawAxes,
  type PlotArea,
  createPlot,
  formatCoordinate,
  xAt,
  yAt,
  linearScale,
  logarithmicScale,
} from "../svg/axes.ts";
import { type Html, html } from "../markup.ts";
import type { LimiterSample } from "./limiter-samples.ts";

export const formatMs = (value: number): string =>
  `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ms`;

const axisLabel = "from sending to the head of the response, logarithmic";

interface LatencyGroup {
  readonly name: string;
  readonly tone: HistogramGroup["tone"];
  /** A representative sample of latencies, in milliseconds. */
  readonly values: readonly number[];
  /** Returns the latency in milliseconds that the given share of the responses did not exceed. */
  readonly within: (share: number) => number;
  readonly count: number;
}

function latencyChart(title: string, groups: readonly LatencyGroup[]): Html | null {
  const nonEmpty = groups.filter(({ values }) => values.length > 0);
  if (nonEmpty.length === 0) return null;
  return renderHistogram({
    title,
    says:
      nonEmpty
        .map(
          ({ name, within, count }) =>
            `${formatCount(count, "response")} ${name}: half of them within ${formatMs(within(0.5))}, 99 % within ${formatMs(within(0.99))}`,
        )
        .join("; ") + ".",
    label: axisLabel,
    format: (value) => (value >= 1000 ? `${value / 1000} s` : `${Number(value.toPrecision(3))} ms`),
    groups: nonEmpty.map(({ name, tone, values }) => ({
      name,
      tone,
      values: values.map((value) => ({ value, share: 1 / values.length })),
    })),
    table: {
      head: ["responses", "count", "half within", "90 %", "99 %", "99.9 %", "longest"],
      rows: nonEmpty.map(({ name, within, count }) => [
        name,
        count,
        ...[0.5, 0.9, 0.99, 0.999, 1].map((share) => formatMs(within(share))),
      ]),
    },
  });
}

export function runLatencyChart(samples: readonly LimiterSample[]): Html | null {
  const of = (became: LimiterSample["decision"], name: string, tone: HistogramGroup["tone"]): LatencyGroup => {
    const values = samples
      .filter((each) => each.decision === became && each.latencyMs > 0)
      .map(({ latencyMs }) => latencyMs);
    return { name, tone, count: values.length, values, within: (share) => quantile(values, share) };
  };
  return latencyChart("Latency while the limits were used up", [
    of("admitted", "admitted", "first"),
    of("refused", "refused with 429", "bad"),
  ]);
}

export function loadLatencyChart({ latency }: LoadEvidence, title: string): Html | null {
  return latencyChart(title, [
    { name: "admitted", tone: "first", ...decodeHistogram(latency.admitted) },
    { name: "refused with 429", tone: "bad", ...decodeHistogram(latency.refused) },
    { name: "with another status", tone: "third", ...decodeHistogram(latency.other) },
  ]);
}

const decodedValueCount = 1000;

function decodeHistogram({
  count,
  encoded,
  p50Us,
  p90Us,
  p99Us,
  p999Us,
  maxUs,
}: LatencyHistogram): Pick<LatencyGroup, "values" | "count" | "within"> {
  if (count === 0) return { values: [], count, within: () => 0 };
  try {
    const found = decodeFromCompressedBase64(encoded, 32, false);
    if (found.totalCount !== count) throw new Error("the histogram is not whole");
    const parts = Math.min(decodedValueCount, count);
    // Each equal part of the sorted latencies is represented by its median. The last part is represented by its
    // maximum.
    const share = (at: number): number => (at === parts - 1 ? 1 : (at + 0.5) / parts);
    const within = (part: number): number => found.getValueAtPercentile(part * 100) / 1000;
    return { count, within, values: Array.from({ length: parts }, (_, at) => within(share(at))) };
  } catch {
    const values = [p50Us, p50Us, p50Us, p90Us, p99Us, maxUs].map((us) => us / 1000);
    const known = [
      [0.5, p50Us],
      [0.9, p90Us],
      [0.99, p99Us],
      [0.999, p999Us],
    ] as const;
    return { count, values, within: (part) => (known.find(([at]) => at >= part)?.[1] ?? maxUs) / 1000 };
  }
}

interface HistogramGroup {
  readonly name: string;
  readonly tone: Tone;
  readonly values: readonly { readonly value: number; readonly share: number }[];
}

interface Histogram {
  readonly title: string;
  readonly says: string;
  readonly label: string;
  readonly format: (value: number) => string;
  readonly groups: readonly HistogramGroup[];
  readonly table: ChartTable;
}

const binsPerDecade = 12;

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
