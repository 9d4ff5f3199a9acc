import { type LoadName, trialKey, type Night, type NightLoad, timesCaveat } from "./night.ts";
import { median } from "../../base/statistics/quantile.ts";

/** What is measured of a load run, in milliseconds. Higher percentiles are kept and shown, but not compared: of so few requests they are noise. */
export const figureNames = ["admitted p50", "admitted p90", "refused p50"] as const;
export type FigureName = (typeof figureNames)[number];

/** A value of one night: the median of all runs of that night. */
export interface Point {
  /** Epoch milliseconds of the night's first run. */
  readonly atMs: number;
  readonly value: number;
}

/** Of fewer requests than this a percentile says nothing. */
const fewest: Readonly<Record<FigureName, number>> = { "admitted p50": 5, "admitted p90": 20, "refused p50": 5 };

/** What a load run says of a figure; `null` where its times prove nothing, or it has too few requests. */
export function valueOf(run: NightLoad, figure: FigureName): number | null {
  const { latencyMs } = run;
  const latency = figure === "refused p50" ? latencyMs.refused : latencyMs.admitted;
  if (latency === null || timesCaveat(run) !== null || latency.count < fewest[figure]) return null;
  return figure === "admitted p90" ? latency.p90 : latency.p50;
}

/** Runs less than this apart belong to one night: three runs within an hour are one sample of what the machine did then. */
const oneNightMs = 6 * 3_600_000;

/** A load's runs, night by night. */
export interface LoadHistory {
  readonly load: LoadName;
  readonly nights: readonly { readonly atMs: number; readonly runs: readonly NightLoad[] }[];
}

/** The runs of each load, first and second ones, by its name. In order of appearance; nights oldest first. */
export function loadHistories(nights: readonly Night[]): ReadonlyMap<string, LoadHistory> {
  const histories = new Map<string, { load: LoadName; nights: { atMs: number; runs: NightLoad[] }[] }>();
  for (const { started, load, second } of nights) {
    const atMs = Date.parse(started);
    for (const run of [...load, ...second]) {
      const { scenario, tier, engine } = run;
      const name = trialKey(run);
      const known = histories.get(name) ?? { load: { scenario, tier, engine }, nights: [] };
      const last = known.nights.at(-1);
      if (last?.atMs === atMs) last.runs.push(run);
      else known.nights.push({ atMs, runs: [run] });
      histories.set(name, known);
    }
  }
  return histories;
}

/** A figure over the nights, oldest first; nights that have none are left out. */
export function pointsOf({ nights }: LoadHistory, figure: FigureName): Point[] {
  const groups: { atMs: number; values: number[] }[] = [];
  for (const { atMs, runs } of nights) {
    const values = runs.flatMap((run) => valueOf(run, figure) ?? []);
    if (values.length === 0) continue;
    const last = groups.at(-1);
    if (last !== undefined && atMs - last.atMs < oneNightMs) last.values.push(...values);
    else groups.push({ atMs, values });
  }
  return groups.map(({ atMs, values }) => ({ atMs, value: median(values) }));
}
