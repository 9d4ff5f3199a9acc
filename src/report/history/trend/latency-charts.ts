import { lineChart, type VerticalLine, type ChartPoint } from "../../html/svg/line-chart.ts";
import type { Html } from "../../html/markup.ts";
import { loadText, msText, shareText } from "../change-text.ts";
import { latencyGate } from "../gate/latency-shifts.ts";
import { type LoadName, trialKey, type Night } from "../night.ts";
import { loadHistories, type LoadHistory, type Point, pointsOf } from "../series.ts";
import { changePoints } from "../../../base/statistics/change-points.ts";
import { median } from "../../../base/statistics/quantile.ts";
import { robustDeviation } from "../../../base/statistics/robust.ts";
import { dateText, dayAt, nightsAxis } from "./days.ts";

/** A change of a latency, as the nights up to now show it. */
interface SeenChange {
  readonly atMs: number;
  readonly was: number;
  readonly is: number;
}

/** The seed is fixed, so that the same history gives the same page. */
const segmentation = { minSegment: 5, maxPValue: 0.001, shuffles: 1999, seed: 20_300_101 } as const;
/** Smaller changes are not marked; the same share as of a reported slow-down. */
const leastShare = latencyGate.leastShare;

/** One chart for each load, those that changed most lately first. */
export function latencyCharts(nights: readonly Night[]): Html[] {
  return [...loadHistories(nights).values()]
    .map((history) => {
      const points = pointsOf(history, "admitted p50");
      return { history, points, changes: changesOf(points) };
    })
    .filter(({ points }) => points.length > 0)
    .toSorted((one, other) => (other.changes.at(-1)?.atMs ?? 0) - (one.changes.at(-1)?.atMs ?? 0))
    .map(({ history, points, changes }) => chartOf(nights, history, points, changes));
}

function changesOf(points: readonly Point[]): SeenChange[] {
  const values = points.map(({ value }) => value);
  const found = changePoints(values, segmentation).map(({ at }) => at);
  return found.flatMap((at, place) => {
    const [from, to] = [found[place - 1] ?? 0, found[place + 1] ?? values.length];
    const [was, is] = [median(values.slice(from, at)), median(values.slice(at, to))];
    const isLarge = Math.abs(Math.log(is / was)) >= Math.log(1 + leastShare);
    return isLarge ? [{ atMs: points[at]?.atMs ?? 0, was, is }] : [];
  });
}

function chartOf(
  nights: readonly Night[],
  history: LoadHistory,
  points: readonly Point[],
  changes: readonly SeenChange[],
): Html {
  const { load } = history;
  const slow = pointsOf(history, "admitted p90");
  const band = bandOf(points, changes);
  const usual = band.at(-1);
  const last = points.at(-1)?.value ?? 0;
  return lineChart({
    title: loadText(load),
    says: `Latency of admitted requests: half of them within ${msText(last)} on the last night${usual === undefined ? "" : `; usual is ${msText(usual.low)} to ${msText(usual.high)}`}.${changesText(changes)}${reportedText(nights, load)}`,
    x: nightsAxis,
    y: { label: "ms", format: (value) => value.toLocaleString("en", { maximumFractionDigits: 2 }) },
    series: [
      { name: "median (p50)", tone: "first", shape: "line", points: points.map(toChart) },
      ...(slow.length === 0
        ? []
        : [{ name: "p90", tone: "second", shape: "line", points: slow.map(toChart) } as const]),
    ],
    bands: band.length === 0 ? [] : [{ name: "usual noise of the median", tone: "quiet", points: band }],
    moments: changes.map(momentOf),
    table: {
      head: ["night", "p50", "p90"],
      rows: points
        .toReversed()
        .map(({ atMs, value }) => [
          dateText(new Date(atMs).toISOString()),
          msText(value),
          msOrNone(slow.find((each) => each.atMs === atMs)),
        ]),
    },
  });
}

const toChart = ({ atMs, value }: Point): ChartPoint => ({ x: dayAt(atMs), y: value });
const msOrNone = (point: Point | undefined): string => (point === undefined ? "" : msText(point.value));

const momentOf = ({ atMs, was, is }: SeenChange): VerticalLine => ({
  name: shareText(was, is),
  x: dayAt(atMs),
  tone: is > was ? "bad" : "good",
});

const changesText = (changes: readonly SeenChange[]): string =>
  changes
    .map(({ atMs, was, is }) => ` ${shareText(was, is)} from ${dateText(new Date(atMs).toISOString())} on.`)
    .join("");

function reportedText(nights: readonly Night[], load: LoadName): string {
  const night = nights.findLast(({ reported }) =>
    reported.changes.some((each) => each.direction === "slower" && trialKey(each) === trialKey(load)),
  );
  return night === undefined ? "" : ` Reported as slower on ${dateText(night.started)}.`;
}

/** Two standard deviations of noise around the median of the nights before, since the last change. */
function bandOf(
  points: readonly Point[],
  changes: readonly SeenChange[],
): { readonly x: number; readonly low: number; readonly high: number }[] {
  const logs = points.map(({ value }) => Math.log(Math.max(value, 0.001)));
  return points.flatMap(({ atMs }, at) => {
    const startMs = changes.findLast((change) => change.atMs <= atMs)?.atMs ?? -Infinity;
    const start = points.findIndex((point) => point.atMs >= startMs);
    const before = logs.slice(Math.max(start, at - latencyGate.mostBaseline), at);
    if (before.length < latencyGate.leastBaseline / 2) return [];
    const [middle, spread] = [median(before), 2 * Math.max(robustDeviation(before), latencyGate.leastScatter)];
    return [{ x: dayAt(atMs), low: Math.exp(middle - spread), high: Math.exp(middle + spread) }];
  });
}
