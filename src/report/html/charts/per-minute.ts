import { formatNumber } from "../../../base/numbers.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import { lineChart, type ChartPoint } from "../svg/line-chart.ts";
import { formatCount } from "../../../base/text.ts";
import type { Html } from "../markup.ts";
import { clock } from "./limits.ts";

const minuteSeconds = 60;

/** A long run, of which exact counts a second are kept: what was admitted and refused in each minute of the target. */
export function slotFigure({ summary, limits, tier }: LoadEvidence): Html {
  const minutes = [...Map.groupBy(summary, ({ second }) => Math.floor(second / minuteSeconds))]
    .map(([minute, members]) => ({
      minute,
      admitted: members.reduce((sum, { admitted }) => sum + admitted, 0),
      refused: members.reduce((sum, { refused }) => sum + refused, 0),
    }))
    .toSorted((one, other) => one.minute - other.minute);
  const first = minutes[0]?.minute ?? 0;
  const points = (name: "admitted" | "refused"): ChartPoint[] =>
    minutes.map((each) => ({ x: (each.minute - first) * minuteSeconds, y: each[name] }));
  const total = (name: "admitted" | "refused"): number => minutes.reduce((sum, each) => sum + each[name], 0);
  return lineChart({
    title: `${tier ?? "tier"}: admitted and refused in each minute`,
    says: `${formatCount(total("admitted"), "request")} admitted and ${total("refused")} refused in ${formatCount(minutes.length, "minute")} of the target, over all keys and flows. ${limits.perMinute} a minute and ${limits.perHour} an hour are published for each key.`,
    x: { label: "the target’s time since the load began", format: clock, units: [60, 120, 300, 600, 1800, 3600, 7200] },
    y: { label: "requests in the minute", format: formatNumber },
    series: [
      { name: "admitted", tone: "first", shape: "step", points: points("admitted") },
      { name: "refused with 429", tone: "second", shape: "step", points: points("refused") },
    ],
    rules: [{ name: `published: ${limits.perMinute} a minute`, y: limits.perMinute }],
    table: {
      head: ["minute of the target", "admitted", "refused"],
      rows: minutes.map(({ minute, admitted, refused }) => [
        clock((minute - first) * minuteSeconds),
        admitted,
        refused,
      ]),
    },
  });
}
