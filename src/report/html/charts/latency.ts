import { decodeFromCompressedBase64 } from "hdr-histogram-js/dist/encoding.js";

import { quantile } from "../../../base/statistics/samples.ts";
import { formatCount } from "../../../base/text.ts";
import type { LatencyHistogram, LoadEvidence } from "../../../evidence/load-evidence.ts";
import { type ChartParts, renderChart, type SeriesColour } from "../svg/chart.ts";
import {
  drawAxes,
  formatCoordinate,
  highestOf,
  linearScale,
  logarithmicScale,
  lowestOf,
  plotArea,
  xAt,
  yAt,
} from "../svg/axes.ts";
import { type Html, html } from "../markup.ts";
import type { LimiterSample } from "./limiter-samples.ts";

export const formatMs = (value: number): string =>
  `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ms`;

interface LatencyGroup extends HistogramGroup {
  /** Returns the latency in ms that the given share of the responses did not exceed: 0.5 gives the median. */
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
    groups: nonEmpty,
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
  const groupOf = (decision: LimiterSample["decision"], name: string, tone: SeriesColour): LatencyGroup => {
    const values = samples
      .filter((each) => each.decision === decision && each.latencyMs > 0)
      .map(({ latencyMs }) => latencyMs);
    return { name, tone, count: values.length, values, within: (share) => quantile(values, share) };
  };
  return latencyChart("Latency while the limits were used up", [
    groupOf("admitted", "admitted", "first"),
    groupOf("refused", "refused with 429", "bad"),
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
    const histogram = decodeFromCompressedBase64(encoded, 32, false);
    if (histogram.totalCount !== count) throw new Error("the histogram is not whole");
    const parts = Math.min(decodedValueCount, count);
    // Cuts the sorted latencies into equal parts, and draws the median of each part. The last part is drawn by its
    // maximum instead, so that the chart shows the longest latency.
    const shareOfPart = (at: number): number => (at === parts - 1 ? 1 : (at + 0.5) / parts);
    const within = (share: number): number => histogram.getValueAtPercentile(share * 100) / 1000;
    return { count, within, values: Array.from({ length: parts }, (_, at) => within(shareOfPart(at))) };
  } catch {
    const values = [p50Us, p50Us, p50Us, p90Us, p99Us, maxUs].map((us) => us / 1000);
    const known = [
      [0.5, p50Us],
      [0.9, p90Us],
      [0.99, p99Us],
      [0.999, p999Us],
    ] as const;
    return { count, values, within: (share) => (known.find(([at]) => at >= share)?.[1] ?? maxUs) / 1000 };
  }
}

interface HistogramGroup {
  readonly name: string;
  readonly tone: SeriesColour;
  /** Latencies to draw, in ms. A load gives up to 1,000 quantiles of its histogram, or six if it is damaged. */
  readonly values: readonly number[];
}

interface Histogram extends Pick<ChartParts, "title" | "says" | "table"> {
  readonly groups: readonly HistogramGroup[];
}

const binsPerDecade = 12;

const formatTick = (ms: number): string => (ms >= 1000 ? `${ms / 1000} s` : `${Number(ms.toPrecision(3))} ms`);

export function renderHistogram({ title, says, groups, table }: Histogram): Html {
  const all = groups.flatMap(({ values }) => values).filter((value) => value > 0);
  const x = logarithmicScale(lowestOf(all, 1), highestOf(all, 10));
  const binned = groups.map((group) => ({ ...group, bins: shareByBin(group) }));
  const highest = Math.max(0.01, ...binned.flatMap(({ bins }) => [...bins.values()]));
  const y = linearScale(0, highest * 100, 4);
  const drawing = html`${drawAxes(
    { label: "from sending to the head of the response, logarithmic", format: formatTick, scale: x },
    { label: "% of the responses", format: String, scale: y },
  )}${binned.map(
    ({ tone, bins }, at) =>
      html`<path
        class="bar ${tone}"
        d="${[...bins]
          .toSorted(([one], [other]) => one - other)
          .map(([bin, share]) => barPath([bin, at, groups.length], x.at, y.at(share * 100)))
          .join("")}"
      />`,
  )}`;
  const legend = groups.map(({ name, tone }) => ({ name, tone, sign: "bar" as const }));
  return renderChart({ title, says, legend, table, plot: plotArea, drawing });
}

function shareByBin({ values }: HistogramGroup): Map<number, number> {
  const bins = new Map<number, number>();
  for (const value of values) {
    const bin = Math.floor(Math.log10(Math.max(value, 1e-6)) * binsPerDecade);
    bins.set(bin, (bins.get(bin) ?? 0) + 1 / values.length);
  }
  return bins;
}

function barPath(
  [bin, at, count]: readonly [number, number, number],
  x: (value: number) => number,
  height: number,
): string {
  const edge = (part: number): number => xAt(plotArea, x(10 ** ((bin + part) / binsPerDecade)));
  const [left, right] = [edge(0) + 0.5, edge(1) - 0.5];
  const width = (right - left) / count;
  return `M${formatCoordinate(left + at * width)} ${plotArea.bottom}V${formatCoordinate(yAt(plotArea, height))}h${formatCoordinate(width)}V${plotArea.bottom}Z`;
}
