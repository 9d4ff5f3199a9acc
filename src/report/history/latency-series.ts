import { trialIdText, type Night, type NightLoad, timesCaveat } from "./night.ts";
import type { TrialId } from "../model/load-results.ts";
import { median } from "../../base/statistics/quantile.ts";

/** Latencies that are compared between nights. Higher percentiles of a few hundred requests are mostly noise. */
export const metricNames = ["admitted p50", "admitted p90", "refused p50"] as const;
export type MetricName = (typeof metricNames)[number];

export interface LatencyPoint {
  readonly atMs: number;
  readonly value: number;
}

const minRequests: Readonly<Record<MetricName, number>> = { "admitted p50": 5, "admitted p90": 20, "refused p50": 5 };

export function latencyOf(run: NightLoad, metric: MetricName): number | null {
  const { latencyMs } = run;
  const latency = metric === "refused p50" ? latencyMs.refused : latencyMs.admitted;
  if (latency === null || timesCaveat(run) !== null || latency.count < minRequests[metric]) return null;
  return metric === "admitted p90" ? latency.p90 : latency.p50;
}

/**
 * Runs that start within this time after a night's first run count as the same night. They share the state of the
 * machine.
 */
const sameNightMs = 6 * 3_600_000;

export interface LoadHistory {
  readonly load: TrialId;
  readonly nights: readonly { readonly atMs: number; readonly runs: readonly NightLoad[] }[];
}

export function loadHistories(nights: readonly Night[]): ReadonlyMap<string, LoadHistory> {
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
