import { rounded } from "../../../base/numbers.ts";
import { type Night, type NightLoad, type ReportedLatencyShift, timesCaveat, trialIdText } from "../night.ts";
import type { TrialId } from "../../model/load-results.ts";
import { clearestChangeIndex } from "../../../base/statistics/series.ts";
import {
  hodgesLehmannShift,
  median,
  rankSumPValue,
  robustDeviation,
  significantByHolm,
} from "../../../base/statistics/samples.ts";

/** Latencies that are compared between nights. Higher percentiles of a few hundred requests are mostly noise. */
const metricNames = ["admitted p50", "admitted p90", "refused p50"] as const;
type MetricName = (typeof metricNames)[number];

export interface LatencyPoint {
  readonly atMs: number;
  readonly value: number;
}

const minRequests: Readonly<Record<MetricName, number>> = { "admitted p50": 5, "admitted p90": 20, "refused p50": 5 };

function latencyOf(run: NightLoad, metric: MetricName): number | null {
  const { latencyMs } = run;
  const latency = metric === "refused p50" ? latencyMs.refused : latencyMs.admitted;
  if (latency === null || timesCaveat(run) !== null || latency.count < minRequests[metric]) return null;
  return metric === "admitted p90" ? latency.p90 : latency.p50;
}

/**
 * A nightly run and further runs that start less than six hours later count as one sample: the machine is in the same
 * state, so their latencies are not independent.
 */
const sameNightMs = 6 * 3_600_000;

export interface LoadHistory {
  readonly load: TrialId;
  readonly nights: readonly { readonly atMs: number; readonly runs: readonly NightLoad[] }[];
}

export function historiesByTrial(nights: readonly Night[]): ReadonlyMap<string, LoadHistory> {
  const histories = new Map<string, { load: TrialId; nights: { atMs: number; runs: NightLoad[] }[] }>();
  for (const { started, load, second } of nights) {
    const atMs = Date.parse(started);
    for (const run of [...load, ...second]) {
      const { scenario, tier, engine } = run;
      const name = trialIdText(run);
      const known = histories.get(name) ?? { load: { scenario, tier, engine }, nights: [] };
      const last = known.nights.at(-1);
      if (last?.atMs === atMs) last.runs.push(run);
      else known.nights.push({ atMs, runs: [run] });
      histories.set(name, known);
    }
  }
  return histories;
}

export function latencyPointsOf({ nights }: LoadHistory, metric: MetricName): LatencyPoint[] {
  const groups: { atMs: number; values: number[] }[] = [];
  for (const { atMs, runs } of nights) {
    const values = runs.flatMap((run) => latencyOf(run, metric) ?? []);
    if (values.length === 0) continue;
    const last = groups.at(-1);
    if (last !== undefined && atMs - last.atMs < sameNightMs) last.values.push(...values);
    else groups.push({ atMs, values });
  }
  return groups.map(({ atMs, values }) => ({ atMs, value: median(values) }));
}

export interface LatencyShift {
  readonly load: TrialId;
  readonly figure: MetricName;
  readonly direction: ReportedLatencyShift["direction"];
  /** Typical latency before the change, in milliseconds. `isMs` is the latency after it. */
  readonly wasMs: number;
  readonly isMs: number;
  /** Start of the first night with the new latency, in epoch milliseconds. */
  readonly sinceMs: number;
  /** p-value: the probability that noise alone causes a difference of at least this size. */
  readonly pValue: number;
}

interface MetricSeries {
  readonly load: TrialId;
  readonly figure: MetricName;
  readonly points: readonly LatencyPoint[];
}

/** Finds lasting changes of latency in one direction, by a rank test and the thresholds of {@link latencyGate}. */
export function latencyShifts(nights: readonly Night[], direction: ReportedLatencyShift["direction"]): LatencyShift[] {
  const series = metricSeriesOf(nights);
  const candidates = series.flatMap((each) => clearestShift(each, direction) ?? []);
  const testCount = series.length * latencyGate.windows.length;
  const significant = significantByHolm(
    candidates.map(({ pValue }) => pValue),
    latencyGate.maxPValue,
    testCount,
  );
  return candidates.filter((_, at) => significant[at] === true);
}

function metricSeriesOf(nights: readonly Night[]): MetricSeries[] {
  const tonight = nights.at(-1);
  if (tonight === undefined) return [];
  const starts = comparableSince(nights);
  const histories = historiesByTrial(nights);
  return [...historiesByTrial([tonight])].flatMap(([name, { load, nights: own }]) => {
    const fromMs = starts.get(name) ?? -Infinity;
    const since = (histories.get(name)?.nights ?? []).filter(({ atMs }) => atMs >= fromMs);
    return metricNames
      .filter((figure) => own.some(({ runs }) => runs.some((run) => latencyOf(run, figure) !== null)))
      .map((figure) => ({ load, figure, points: latencyPointsOf({ load, nights: since }, figure) }));
  });
}

/** Returns when each trial's last reported latency change began. Earlier latencies are not comparable with tonight's. */
function comparableSince(nights: readonly Night[]): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (const { reported } of nights)
    for (const change of reported.changes) starts.set(trialIdText(change), Date.parse(change.since));
  return starts;
}

function clearestShift(
  { load, figure, points }: MetricSeries,
  direction: ReportedLatencyShift["direction"],
): LatencyShift | null {
  const sign = direction === "slower" ? 1 : -1;
  const logs = points.map(({ value }) => sign * Math.log(Math.max(value, 0.001)));
  let best: LatencyShift | null = null;
  for (const window of latencyGate.windows) {
    const split = logs.length - window;
    const baseline = logs.slice(Math.max(0, split - latencyGate.maxBaseline), Math.max(0, split));
    const recent = logs.slice(split);
    if (baseline.length < latencyGate.minBaseline || !exceedsThresholds(recent, baseline)) continue;
    const pValue = rankSumPValue(recent, baseline);
    if (best !== null && pValue >= best.pValue) continue;
    const wasMs = Math.exp(sign * median(baseline));
    const isMs = wasMs * Math.exp(sign * hodgesLehmannShift(recent, baseline));
    if (Math.abs(isMs - wasMs) < latencyGate.minMs) continue;
    best = { load, figure, direction, wasMs, isMs, pValue, sinceMs: points[firstNightOf(logs, window)]?.atMs ?? 0 };
  }
  return best;
}

function exceedsThresholds(recent: readonly number[], baseline: readonly number[]): boolean {
  const minShift = Math.log(1 + latencyGate.minShare);
  // Ignores the nights with the largest change: a few outliers are not a lasting change.
  const usual = recent.toSorted((a, b) => a - b).slice(0, Math.ceil(recent.length * latencyGate.usualShare));
  if (median(usual) - median(baseline) < minShift / 2) return false;
  const shift = hodgesLehmannShift(recent, baseline);
  if (shift < minShift) return false;
  const noise = Math.max(robustDeviation(baseline), latencyGate.minScatter);
  const errors = Math.sqrt(1 / recent.length + 1 / baseline.length) * (1 + 2 / baseline.length);
  return shift >= latencyGate.minErrors * noise * errors;
}

function firstNightOf(logs: readonly number[], window: number): number {
  const from = Math.max(0, logs.length - window - latencyGate.maxBaseline);
  const earliest = logs.length - 2 * window - from;
  return from + (clearestChangeIndex(logs.slice(from), 2, earliest) ?? logs.length - window - from);
}

export function replaceLoadBySecondRun(night: Night): Night {
  return { ...night, load: night.second, second: [] };
}

export const reportedShiftOf = (
  { load, figure, direction, wasMs, isMs, sinceMs }: LatencyShift,
  isKnown: boolean,
): ReportedLatencyShift => ({
  ...load,
  figure,
  direction,
  wasMs: rounded(wasMs, 3),
  isMs: rounded(isMs, 3),
  since: new Date(sinceMs).toISOString(),
  isKnown,
});

/** Thresholds for a lasting change of a latency, tuned on simulated histories (see docs/nightly.md). */
export const latencyGate = {
  /**
   * Numbers of latest nights to compare with earlier nights: the last 5, 8 or 13. A smaller change needs more nights to
   * be detected.
   */
  windows: [5, 8, 13],
  /** Maximum number of earlier nights to compare recent nights with. `minBaseline` is the minimum. */
  maxBaseline: 42,
  minBaseline: 10,
  /** Minimum change, as a share of the earlier latency: 10 %. */
  minShare: 0.1,
  /** Share of the recent nights, without those that changed most, whose median must show half of `minShare`. */
  usualShare: 0.6,
  /** A latency must change by at least this many milliseconds. The load engine itself can cause smaller changes. */
  minMs: 1,
  /** Minimum change, in standard errors. The standard error is estimated from the scatter of the earlier nights. */
  minErrors: 4.5,
  /** Minimum noise to assume, as a share of the latency. Nights with equal latencies would otherwise show no noise. */
  minScatter: 0.01,
  /** Maximum probability of a false alarm in the rank test, over all metrics of a night together. */
  maxPValue: 0.001,
  /**
   * Number of latest nights to search for a report of a slow-down, of any trial. A trial that became slower before that
   * report counts as part of it.
   */
  sameChangeNights: 14,
} as const;
