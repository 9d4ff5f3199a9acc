import { type ChartPoint, renderLineChart, type ChartSeries, type VerticalLine } from "../../html/svg/line-chart.ts";
import { type Html, html } from "../../html/markup.ts";
import { formatTrialId, formatMs, formatShare } from "../summary.ts";
import {
  latencyGate,
  type LatencyPoint,
  latencyPointsOf,
  historiesByTrial,
  type LoadHistory,
} from "../gate/latency-shifts.ts";
import { type Night, trialIdText } from "../night.ts";
import type { TrialId } from "../../model/load-results.ts";
import { changePoints } from "../../../base/statistics/series.ts";
import { median, robustDeviation } from "../../../base/statistics/samples.ts";
import { formatNumber } from "../../../base/numbers.ts";
import { formatCount } from "../../../base/text.ts";
import { dayMs } from "../../../base/duration.ts";
import type { Axis } from "../../html/svg/axes.ts";

interface LevelChange {
  readonly atMs: number;
  readonly was: number;
  readonly is: number;
}

/** Options of the search for lasting changes of latency. With a fixed seed, a history always gives the same page. */
const segmentationOptions = { minSegment: 5, maxPValue: 0.001, shuffles: 1999, seed: 20_300_101 } as const;

export function latencyCharts(nights: readonly Night[]): Html[] {
  return [...historiesByTrial(nights).values()]
    .map((history) => {
      const points = latencyPointsOf(history, "admitted p50");
      return { history, points, changes: levelChangesOf(points) };
    })
    .filter(({ points }) => points.length > 0)
    .toSorted((one, other) => (other.changes.at(-1)?.atMs ?? 0) - (one.changes.at(-1)?.atMs ?? 0))
    .map(({ history, points, changes }) => latencyChart(nights, history, points, changes));
}

function levelChangesOf(points: readonly LatencyPoint[]): LevelChange[] {
  const values = points.map(({ value }) => value);
  const found = changePoints(values, segmentationOptions).map(({ at }) => at);
  return found.flatMap((at, place) => {
    const [from, to] = [found[place - 1] ?? 0, found[place + 1] ?? values.length];
    const [was, is] = [median(values.slice(from, at)), median(values.slice(at, to))];
    const isLarge = Math.abs(Math.log(is / was)) >= Math.log(1 + latencyGate.minShare);
    return isLarge ? [{ atMs: points[at]?.atMs ?? 0, was, is }] : [];
  });
}

function latencyChart(
  nights: readonly Night[],
  history: LoadHistory,
  points: readonly LatencyPoint[],
  changes: readonly LevelChange[],
): Html {
  const { load } = history;
  const slow = latencyPointsOf(history, "admitted p90");
  const band = noiseBand(points, changes);
  const usual = band.at(-1);
  const last = points.at(-1)?.value ?? 0;
  return renderLineChart({
    title: formatTrialId(load),
    says: `Latency of admitted requests: half of them within ${formatMs(last)} on the last night${usual === undefined ? "" : `; usual is ${formatMs(usual.low)} to ${formatMs(usual.high)}`}.${formatLevelChanges(changes)}${formatReportedNight(nights, load)}`,
    x: nightsAxis,
    y: { label: "ms", format: (value) => value.toLocaleString("en", { maximumFractionDigits: 2 }) },
    series: [
      { name: "median (p50)", tone: "first", shape: "line", points: points.map(chartPoint) },
      ...(slow.length === 0
        ? []
        : [{ name: "p90", tone: "second", shape: "line", points: slow.map(chartPoint) } as const]),
    ],
    bands: band.length === 0 ? [] : [{ name: "usual noise of the median", tone: "quiet", points: band }],
    verticalLines: changes.map(levelChangeLine),
    table: {
      head: ["night", "p50", "p90"],
      rows: points
        .toReversed()
        .map(({ atMs, value }) => [
          formatDate(new Date(atMs).toISOString()),
          formatMs(value),
          formatMsOrEmpty(slow.find((each) => each.atMs === atMs)),
        ]),
    },
  });
}

const chartPoint = ({ atMs, value }: LatencyPoint): ChartPoint => ({ x: toDays(atMs), y: value });
const formatMsOrEmpty = (point: LatencyPoint | undefined): string => (point === undefined ? "" : formatMs(point.value));

const levelChangeLine = ({ atMs, was, is }: LevelChange): VerticalLine => ({
  name: formatShare(was, is),
  x: toDays(atMs),
  tone: is > was ? "bad" : "good",
});

const formatLevelChanges = (changes: readonly LevelChange[]): string =>
  changes
    .map(({ atMs, was, is }) => ` ${formatShare(was, is)} from ${formatDate(new Date(atMs).toISOString())} on.`)
    .join("");

function formatReportedNight(nights: readonly Night[], load: TrialId): string {
  const night = nights.findLast(({ reported }) =>
    reported.changes.some((each) => each.direction === "slower" && trialIdText(each) === trialIdText(load)),
  );
  return night === undefined ? "" : ` Reported as slower on ${formatDate(night.started)}.`;
}

/**
 * Returns each night's usual latency range: median ± 2 standard deviations of up to 42 nights before it. Leaves out
 * nights before the last lasting change of latency. With fewer than five nights, there is no range.
 */
function noiseBand(
  points: readonly LatencyPoint[],
  changes: readonly LevelChange[],
): { readonly x: number; readonly low: number; readonly high: number }[] {
  const logs = points.map(({ value }) => Math.log(Math.max(value, 0.001)));
  return points.flatMap(({ atMs }, at) => {
    const startMs = changes.findLast((change) => change.atMs <= atMs)?.atMs ?? -Infinity;
    const start = points.findIndex((point) => point.atMs >= startMs);
    const before = logs.slice(Math.max(start, at - latencyGate.maxBaseline), at);
    if (before.length < latencyGate.minBaseline / 2) return [];
    const [middle, spread] = [median(before), 2 * Math.max(robustDeviation(before), latencyGate.minScatter)];
    return [{ x: toDays(atMs), low: Math.exp(middle - spread), high: Math.exp(middle + spread) }];
  });
}

export function passPercent({ totals: { pass, fail, warning, note } }: Night): number | null {
  const judged = pass + fail + warning + note;
  return judged === 0 ? null : (100 * pass) / judged;
}

/** If more nights than this have a regression, the chart omits their vertical lines, which would hide the curve. */
const maxRegressionMarks = 4;

export function passRateChart(nights: readonly Night[]): Html {
  const points = nights.flatMap((night): (ChartPoint & { readonly night: Night })[] => {
    const y = passPercent(night);
    return y === null ? [] : [{ x: toDays(Date.parse(night.started)), y, night }];
  });
  const last = points.at(-1);
  if (last === undefined) return html``;
  const worse = points.filter(({ night }) => night.reported.regressions.length > 0);
  const notJudged = nights.length - points.length;
  const lowest = Math.min(...points.map(({ y }) => y));
  return renderLineChart({
    title: "Pass rate",
    says: `Share of the exercised checks that hold: ${formatPercent(last.y)} on ${formatDate(last.night.started)}, at least ${formatPercent(lowest)} over ${formatCount(points.length, "night")}.${notJudged > 0 ? ` On ${formatCount(notJudged, "night")} nothing could be judged.` : ""}`,
    x: nightsAxis,
    y: {
      label: "%",
      format: (value) => formatPercent(value).replace(" %", ""),
      scale: lowest === 100 ? "from zero" : "fitted",
    },
    series: [
      { name: "pass rate", tone: "first", shape: "line", points },
      ...(worse.length === 0
        ? []
        : [{ name: "nights with a regression", tone: "bad", shape: "crosses", points: worse } as const]),
    ],
    verticalLines: worse.length > maxRegressionMarks ? [] : worse.map(regressionLine),
    table: {
      head: ["night", "pass rate", "passed", "failed", "regressions"],
      rows: points
        .toReversed()
        .map(({ y, night }) => [
          formatDate(night.started),
          formatPercent(y),
          night.totals.pass,
          night.totals.fail,
          night.reported.regressions.length,
        ]),
    },
  });
}

export function countsChart(nights: readonly Night[]): Html {
  const line = (
    name: string,
    tone: "bad" | "third" | "quiet",
    of: (totals: Night["totals"]) => number,
  ): ChartSeries => ({
    name,
    tone,
    shape: "line",
    points: nights.map(({ started, totals }) => ({ x: toDays(Date.parse(started)), y: of(totals) })),
  });
  const last = nights.at(-1)?.totals;
  if (last === undefined) return html``;
  return renderLineChart({
    title: "Broken and skipped",
    says: `On the last night ${last.fail} failed, ${last.warning + last.note} were warnings or notes, and ${last.skipped} were skipped.`,
    x: nightsAxis,
    y: { label: "findings", format: formatNumber },
    series: [
      line("failed", "bad", ({ fail }) => fail),
      line("warnings and notes", "third", ({ warning, note }) => warning + note),
      line("skipped", "quiet", ({ skipped }) => skipped),
    ],
    table: {
      head: ["night", "failed", "warnings and notes", "skipped"],
      rows: nights
        .toReversed()
        .map(({ started, totals: { fail, warning, note, skipped } }) => [
          formatDate(started),
          fail,
          warning + note,
          skipped,
        ]),
    },
  });
}

const regressionLine = ({ x, night }: { readonly x: number; readonly night: Night }): VerticalLine => {
  const [first] = night.reported.regressions;
  return { name: first?.check ?? "regression", x, tone: "bad" };
};

const formatPercent = (value: number): string => `${value === 100 ? "100" : value.toFixed(1)} %`;

const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export const toDays = (ms: number): number => ms / dayMs;

/** Formats an ISO 8601 time as `5 Feb 2030`. */
export function formatDate(iso: string): string {
  const date = new Date(iso);
  return `${date.getUTCDate()} ${monthNames[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
}

function formatShortDate(day: number): string {
  const date = new Date(day * dayMs);
  return `${date.getUTCDate()} ${monthNames[date.getUTCMonth()] ?? ""}`;
}

export const nightsAxis: Axis & { readonly units: readonly number[] } = {
  label: "night (UTC)",
  format: formatShortDate,
  units: [1, 2, 7, 14, 28, 56, 112],
};
