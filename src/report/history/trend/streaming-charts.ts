import { sanitizeLine } from "../../../base/sanitize.ts";
import { formatCount } from "../../../base/text.ts";
import { type Html, html } from "../../html/markup.ts";
import { type ChartPoint, renderLineChart } from "../../html/svg/line-chart.ts";
import { type AgentStreaming, formatRate } from "../../model/streaming.ts";
import type { Night } from "../night.ts";
import { formatMs } from "../summary.ts";
import { formatDate, nightsAxis, toDays } from "./charts.ts";

const maxAgents = 4;

interface StreamingNight {
  readonly night: Night;
  readonly quality: AgentStreaming;
}

export function streamingCharts(nights: readonly Night[]): Html[] {
  const all = nights.flatMap((night) => (night.streaming ?? []).map((quality) => ({ night, quality })));
  return [...Map.groupBy(all, ({ quality }) => quality.agent)]
    .filter(([, ofAgent]) => ofAgent.length > 1)
    .toSorted(([, one], [, other]) => other.length - one.length)
    .slice(0, maxAgents)
    .map(([agent, ofAgent]) => streamingChart(sanitizeLine(agent, 40), ofAgent));
}

function streamingChart(agent: string, nights: readonly StreamingNight[]): Html {
  const last = nights.at(-1);
  if (last === undefined) return html``;
  const pointsOf = (valueOf: (quality: AgentStreaming) => number | undefined): ChartPoint[] =>
    nights.flatMap(({ night, quality }) => {
      const y = valueOf(quality);
      return y === undefined ? [] : [{ x: toDays(Date.parse(night.started)), y }];
    });
  const gaps = pointsOf(({ gapMs }) => gapMs?.p99);
  return renderLineChart({
    title: `Streams of ${agent}`,
    says: `Median time to the first content: ${formatMs(last.quality.firstContentMs.p50)} on ${formatDate(last.night.started)}, over ${formatCount(nights.length, "night")}.`,
    x: nightsAxis,
    y: { label: "ms", format: (value) => value.toLocaleString("en", { maximumFractionDigits: 2 }) },
    series: [
      {
        name: "first content (p50)",
        tone: "first",
        shape: "line",
        points: pointsOf((quality) => quality.firstContentMs.p50),
      },
      ...(gaps.length === 0
        ? []
        : [{ name: "gap between chunks (p99)", tone: "second", shape: "line", points: gaps } as const]),
    ],
    table: {
      head: ["night", "first content", "gap p50", "gap p99", "longest gap", "a second", "at once"],
      rows: nights.toReversed().map(rowOf),
    },
  });
}

const rowOf = ({ night, quality }: StreamingNight): string[] => [
  formatDate(night.started),
  formatMs(quality.firstContentMs.p50),
  ...(quality.gapMs === null ? ["", "", ""] : [quality.gapMs.p50, quality.gapMs.p99, quality.gapMs.max].map(formatMs)),
  formatRate(quality) ?? "",
  `${quality.lumps} of ${quality.streams}`,
];
