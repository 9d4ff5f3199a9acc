import { formatNumber } from "../../../base/numbers.ts";
import { highestOf, lowestOf, timeAxisWithBreaks, type TimeAxisWithBreaks } from "../svg/axes.ts";
import { seriesColours } from "../svg/chart.ts";
import { type ChartPoint, renderLineChart, type ChartSeries, type VerticalLine } from "../svg/line-chart.ts";
import { formatCount } from "../../../base/text.ts";
import type { Html } from "../markup.ts";
import {
  countInWindow,
  downsample,
  type KeySamples,
  type LimiterSample,
  fixedWindowIndexer,
} from "./limiter-samples.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";

type ChartedWindow = "minute" | "hour";

const windowSecondsByName = { minute: 60, hour: 3600 } as const;

export function limitCharts(keySamples: KeySamples, window: ChartedWindow): Html[] {
  if (keySamples.samples.length === 0) return [];
  const limit = chartedLimitOf(keySamples, window);
  return [admittedChart(limit), remainingChart(limit)].flatMap((each) => each ?? []);
}

type ChartedLimit = ReturnType<typeof chartedLimitOf>;

function chartedLimitOf({ name, limits, samples }: KeySamples, window: ChartedWindow) {
  const windowSeconds = windowSecondsByName[window];
  const published = window === "minute" ? limits.perMinute : limits.perHour;
  const firstMs = samples[0]?.atMs ?? 0;
  const secondsAt = (atMs: number): number => (atMs - firstMs) / 1000;
  const axis = timeAxisWithBreaks(
    samples.map(({ atMs }) => secondsAt(atMs)),
    {
      maxPause: windowSeconds * 1.5,
      shownPause: windowSeconds / 6,
      units: [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600],
    },
  );
  return { name, samples, window, windowSeconds, published, burst: limits.burst, secondsAt, axis };
}

const pauseLines = ({ cuts }: TimeAxisWithBreaks): VerticalLine[] =>
  cuts.map(({ at, pause }) => ({
    name: `pause of ${formatClock(pause < 3600 ? pause : 60 * Math.round(pause / 60))}`,
    x: at,
    tone: "quiet",
  }));

/** Formats seconds as `40 s`, `2:05 min` or `2:00 h`. */
export function formatClock(seconds: number): string {
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (value: number): string => String(value).padStart(2, "0");
  if (whole < 3600) return whole % 60 === 0 ? `${whole / 60} min` : `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  const minutes = `${Math.floor(whole / 3600)}:${two(Math.floor((whole % 3600) / 60))}`;
  return whole % 60 === 0 ? `${minutes} h` : `${minutes}:${two(whole % 60)} h`;
}

const timeAxisOptions = (axis: TimeAxisWithBreaks) => ({
  label: "the target’s time since the first response",
  format: formatClock,
  scale: axis.scale,
});

const maxLineColumns = 280;

function admittedChart(limit: ChartedLimit): Html {
  const { name, samples, window, windowSeconds, published, burst, secondsAt, axis } = limit;
  const count = countInWindow(samples, windowSeconds, published);
  const shifted = (points: readonly ChartPoint[]): ChartPoint[] => points.map(({ x, y }) => ({ x: secondsAt(x), y }));
  const refusals = visibleCrosses(shifted(count.refusals), axis);
  const admitted = samples.filter(({ decision }) => decision === "admitted").length;
  const how =
    count.shape === "rolling"
      ? `within the last ${window}`
      : `within each ${window} that ends where the reset header says`;
  const beyond = burst !== null && window === "minute" && count.max > published;
  return renderLineChart({
    title: `${name}: admitted and refused in ${window === "hour" ? "an hour" : "a minute"}`,
    says: `${formatCount(admitted, "request")} admitted, ${count.refusals.length} refused. At most ${formatNumber(count.max)} were admitted ${how}; ${formatNumber(published)} are published.`,
    x: timeAxisOptions(axis),
    y: {
      label: `admitted ${count.shape === "rolling" ? `in the last ${window}` : `in the ${window}`}`,
      format: formatNumber,
    },
    series: [
      {
        name: `admitted ${how}`,
        tone: "first",
        shape: "step",
        points: shifted(downsample(count.line, maxLineColumns)),
      },
      ...(refusals.length === 0
        ? []
        : [{ name: "refused with 429", tone: "bad", shape: "crosses", points: refusals } as const]),
    ],
    referenceLines: [
      { name: `published: ${formatNumber(published)} ${window === "hour" ? "an hour" : "a minute"}`, y: published },
      ...(beyond ? [{ name: `with the burst on top: ${formatNumber(published + burst)}`, y: published + burst }] : []),
    ],
    verticalLines: pauseLines(axis),
    table: {
      head: [`${window} of the target`, "responses", "admitted", "refused", "lowest remaining"],
      rows: windowTableRows(limit),
    },
  });
}

function visibleCrosses(points: readonly ChartPoint[], { scale }: TimeAxisWithBreaks): ChartPoint[] {
  const places = new Map(points.map((point) => [`${Math.round(scale.at(point.x) * 140)} ${point.y}`, point]));
  return [...places.values()];
}

function windowTableRows({ samples, windowSeconds, published, secondsAt }: ChartedLimit): (string | number)[][] {
  const windowOf = fixedWindowIndexer(samples, windowSeconds, published);
  return [...Map.groupBy(samples, windowOf).values()].map((members) => {
    const left = members.flatMap(({ limit, remaining }) =>
      limit === published && remaining !== null ? [remaining] : [],
    );
    const countOf = (decision: LimiterSample["decision"]): number =>
      members.filter((each) => each.decision === decision).length;
    return [
      `from ${formatClock(secondsAt(members[0]?.atMs ?? 0))}`,
      members.length,
      countOf("admitted"),
      countOf("refused"),
      left.length === 0 ? "not sent" : lowestOf(left),
    ];
  });
}

function remainingChart({ name, samples, window, secondsAt, axis }: ChartedLimit): Html | null {
  const reported = samples.filter(({ limit, remaining }) => limit !== null && remaining !== null);
  if (reported.length === 0) return null;
  const byLimit = [...Map.groupBy(reported, ({ limit }) => limit ?? 0)]
    .toSorted(([one], [other]) => one - other)
    .slice(0, 4);
  const series = byLimit.map(([limit, members], index): ChartSeries => {
    const points = members.map(({ atMs, remaining }) => ({ x: secondsAt(atMs), y: remaining ?? 0 }));
    return {
      name: `of a limit of ${formatNumber(limit)}`,
      tone: seriesColours[index] ?? "quiet",
      shape: "dots",
      points: visibleDots(points, axis),
    };
  });
  const lows = byLimit.map(([limit, members]) => {
    const left = members.map(({ remaining }) => remaining ?? 0);
    return [limit, members.length, highestOf(left), lowestOf(left)];
  });
  return renderLineChart({
    title: `${name}: remaining requests in the headers, ${window === "hour" ? "over an hour" : "minute by minute"}`,
    says: `X-RateLimit-Remaining of ${formatCount(reported.length, "response")}, by the value of X-RateLimit-Limit; over ${formatClock(secondsAt(samples.at(-1)?.atMs ?? 0))} of the target’s time.`,
    x: timeAxisOptions(axis),
    y: { label: "X-RateLimit-Remaining", format: formatNumber },
    series,
    verticalLines: pauseLines(axis),
    table: { head: ["limit", "responses", "highest remaining", "lowest remaining"], rows: lows },
  });
}

function visibleDots(points: readonly ChartPoint[], { scale }: TimeAxisWithBreaks): ChartPoint[] {
  const highest = points.reduce((high, { y }) => Math.max(high, y), 1);
  const places = new Map(
    points.map((point) => [`${Math.round(scale.at(point.x) * 200)} ${Math.round((point.y / highest) * 60)}`, point]),
  );
  return [...places.values()];
}

const minuteSeconds = 60;

/** Draws admitted and refused requests per minute of a long load, whose evidence has only counts per second. */
export function perMinuteChart({ summary, limits, tier }: LoadEvidence): Html {
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
  return renderLineChart({
    title: `${tier ?? "tier"}: admitted and refused in each minute`,
    says: `${formatCount(total("admitted"), "request")} admitted and ${total("refused")} refused in ${formatCount(minutes.length, "minute")} of the target, over all keys and flows. ${limits.perMinute} a minute and ${limits.perHour} an hour are published for each key.`,
    x: {
      label: "the target’s time since the load began",
      format: formatClock,
      units: [60, 120, 300, 600, 1800, 3600, 7200],
    },
    y: { label: "requests in the minute", format: formatNumber },
    series: [
      { name: "admitted", tone: "first", shape: "step", points: points("admitted") },
      { name: "refused with 429", tone: "second", shape: "step", points: points("refused") },
    ],
    referenceLines: [{ name: `published: ${limits.perMinute} a minute`, y: limits.perMinute }],
    table: {
      head: ["minute of the target", "admitted", "refused"],
      rows: minutes.map(({ minute, admitted, refused }) => [
        formatClock((minute - first) * minuteSeconds),
        admitted,
        refused,
      ]),
    },
  });
}
