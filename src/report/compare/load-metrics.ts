import { type LoadRun, formatTrial } from "../model/load-results.ts";
import type { Report } from "../model/report.ts";
import type { Comparison, LoadMetric, MetricGroup, MetricUnit, Trial } from "./comparison.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { once } from "../../base/memoize.ts";

interface MetricDefinition {
  readonly name: string;
  readonly group: MetricGroup;
  readonly unit: MetricUnit;
  readonly of: (run: LoadRun) => number | null;
}

const metricDefinitions: readonly MetricDefinition[] = [
  { name: "admitted", group: "counts", unit: "requests", of: ({ requests }) => requests.admitted },
  { name: "refused", group: "counts", unit: "requests", of: ({ requests }) => requests.refused },
  { name: "failed or unanswered", group: "counts", unit: "requests", of: failedOrUnanswered },
  { name: "sent per second", group: "throughput", unit: "requests/s", of: ({ perSecond }) => perSecond.sent },
  { name: "admitted per second", group: "throughput", unit: "requests/s", of: ({ perSecond }) => perSecond.admitted },
  { name: "admitted p50", group: "latency", unit: "ms", of: ({ latencyMs }) => latencyMs.admitted?.p50 ?? null },
  { name: "admitted p99", group: "latency", unit: "ms", of: ({ latencyMs }) => latencyMs.admitted?.p99 ?? null },
  { name: "refused p50", group: "latency", unit: "ms", of: ({ latencyMs }) => latencyMs.refused?.p50 ?? null },
  { name: "refused p99", group: "latency", unit: "ms", of: ({ latencyMs }) => latencyMs.refused?.p99 ?? null },
  { name: "first event median", group: "latency", unit: "ms", of: (run) => run.streams?.firstEventMs?.median ?? null },
  { name: "first event p99", group: "latency", unit: "ms", of: (run) => run.streams?.firstEventMs?.p99 ?? null },
  { name: "memory at most", group: "memory", unit: "bytes", of: ({ serverRssBytes }) => serverRssBytes?.most ?? null },
];

function failedOrUnanswered({ requests }: LoadRun): number {
  return requests.failed + requests.unanswered;
}

export function compareLoad(older: Report, newer: Report): Pick<Comparison, "loadFigures" | "loneTrials"> {
  const before = indexByTrial(older.load?.runs ?? []);
  const after = indexByTrial(newer.load?.runs ?? []);
  return {
    loadFigures: [...after].flatMap(([name, is]) => {
      const was = before.get(name);
      return was === undefined ? [] : comparedMetrics(was, is);
    }),
    loneTrials: { older: trialsOnlyIn(before, after), newer: trialsOnlyIn(after, before) },
  };
}

const trialOf = ({ scenario, tier, engine }: Trial): Trial => ({ scenario, tier, engine });

function indexByTrial(runs: readonly LoadRun[]): Map<string, LoadRun> {
  const found = new Map<string, LoadRun>();
  for (const run of runs) {
    const name = JSON.stringify([run.scenario, run.tier, run.engine]);
    let at = 1;
    while (found.has(`${name}${at}`)) at += 1;
    found.set(`${name}${at}`, run);
  }
  return found;
}

const trialsOnlyIn = (all: ReadonlyMap<string, LoadRun>, from: ReadonlyMap<string, LoadRun>): Trial[] =>
  [...all].flatMap(([name, run]) => (from.has(name) ? [] : [trialOf(run)]));

function comparedMetrics(older: LoadRun, newer: LoadRun): LoadMetric[] {
  return metricDefinitions.flatMap(({ of, ...metric }) => {
    const [was, is] = [of(older), of(newer)];
    if (was === null && is === null) return [];
    const changeShare = was === null || is === null || was === 0 ? null : (is - was) / was;
    return { ...trialOf(newer), ...metric, was, is, changeShare, doubt: whyNotComparable(older, newer, metric.group) };
  });
}

function whyNotComparable(older: LoadRun, newer: LoadRun, group: MetricGroup): string | null {
  for (const [side, { validity }] of [
    ["older", older],
    ["newer", newer],
  ] as const) {
    const why = validity.invalid ?? (group === "counts" ? validity.counts : validity.pace);
    if (why !== null) return `of the ${side}: ${why}`;
  }
  if (older.stopped !== null || newer.stopped !== null) return "one of the two was stopped early";
  if (group === "counts" && older.requests.planned !== newer.requests.planned)
    return "not the same number of requests was planned";
  if (older.speed !== newer.speed) return "the target's clock ran at another speed";
  return older.segments.length === newer.segments.length ? null : "sent by another number of processes";
}

const wholeNumberFormat = once(() => new Intl.NumberFormat("en", { maximumFractionDigits: 0 }));

function formatMetricValue(value: number | null, unit: MetricUnit): string {
  if (value === null) return "–";
  switch (unit) {
    case "requests":
      return wholeNumberFormat().format(value);
    case "requests/s":
      return `${formatRounded(value)}/s`;
    case "ms":
      return `${formatRounded(value)} ms`;
    case "bytes":
      return `${formatRounded(value / 1024 ** 2)} MiB`;
  }
}

const formatRounded = (value: number): string => (value < 100 ? value.toFixed(1) : wholeNumberFormat().format(value));

function formatRelativeChange({ was, is, changeShare }: Pick<LoadMetric, "was" | "is" | "changeShare">): string {
  if (was === is) return "=";
  if (changeShare === null) return "";
  const percent = changeShare * 100;
  const text = Math.abs(percent) < 1 ? percent.toPrecision(1) : wholeNumberFormat().format(percent);
  return `${percent > 0 ? "+" : ""}${text} %`;
}

/** Formats a metric as `admitted p99 40.4 ms → 60.1 ms (+49 %)`. */
export function formatMetricChange(figure: LoadMetric): string {
  const { name, unit, was, is } = figure;
  const share = formatRelativeChange(figure);
  return `${name} ${formatMetricValue(was, unit)} → ${formatMetricValue(is, unit)}${share === "" ? "" : ` (${share})`}`;
}

export interface TrialMetrics {
  readonly load: string;
  /** One row for each metric. Its cells are the name, the old value, the new value and the change. */
  readonly rows: readonly (readonly string[])[];
}

export const groupMetricsByTrial = ({ loadFigures }: Pick<Comparison, "loadFigures">): TrialMetrics[] =>
  [...Map.groupBy(loadFigures, (figure) => sanitizeLine(formatTrial(figure), 80))].map(([load, figures]) => ({
    load,
    rows: figures.map(metricRowOf),
  }));

const metricRowOf = (figure: LoadMetric): string[] => [
  figure.name,
  formatMetricValue(figure.was, figure.unit),
  formatMetricValue(figure.is, figure.unit),
  figure.doubt === null ? formatRelativeChange(figure) : "not comparable",
];
