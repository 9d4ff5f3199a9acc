import type { MetricUnit, LoadMetric, Comparison } from "./comparison.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { once } from "../../base/memoize.ts";
import { formatTrial } from "../model/trial-id.ts";

const numbers = once(() => new Intl.NumberFormat("en", { maximumFractionDigits: 0 }));

/** `1,234`, `12.5 ms`, `88.1 MiB`; a dash where there is none. */
function figureText(value: number | null, unit: MetricUnit): string {
  if (value === null) return "–";
  switch (unit) {
    case "requests":
      return numbers().format(value);
    case "requests/s":
      return `${rounded(value)}/s`;
    case "ms":
      return `${rounded(value)} ms`;
    case "bytes":
      return `${rounded(value / 1024 ** 2)} MiB`;
  }
}

const rounded = (value: number): string => (value < 100 ? value.toFixed(1) : numbers().format(value));

/** `+12 %`, `-3 %`, `=`; empty where no share can be told. */
function shareText({ was, is, changeShare }: Pick<LoadMetric, "was" | "is" | "changeShare">): string {
  if (was === is) return "=";
  if (changeShare === null) return "";
  const percent = changeShare * 100;
  const text = Math.abs(percent) < 1 ? percent.toPrecision(1) : numbers().format(percent);
  return `${percent > 0 ? "+" : ""}${text} %`;
}

/** `admitted p99 40.4 ms → 60.1 ms (+49 %)`. */
export function formatMetricChange(figure: LoadMetric): string {
  const { name, unit, was, is } = figure;
  const share = shareText(figure);
  return `${name} ${figureText(was, unit)} → ${figureText(is, unit)}${share === "" ? "" : ` (${share})`}`;
}

/** Cells of one figure of load. */
export interface LoadRow {
  readonly figure: string;
  readonly was: string;
  readonly is: string;
  /** By how much it changed; where the two cannot be laid side by side, that. */
  readonly change: string;
}

/** One scenario on one tier by one engine. */
export interface LoadGroup {
  readonly load: string;
  readonly rows: readonly LoadRow[];
}

export const loadGroups = ({ loadFigures }: Pick<Comparison, "loadFigures">): LoadGroup[] =>
  [...Map.groupBy(loadFigures, (figure) => sanitizeLine(formatTrial(figure), 80))].map(([load, figures]) => ({
    load,
    rows: figures.map(rowOf),
  }));

const rowOf = (figure: LoadMetric): LoadRow => ({
  figure: figure.name,
  was: figureText(figure.was, figure.unit),
  is: figureText(figure.is, figure.unit),
  change: figure.doubt === null ? shareText(figure) : "not comparable",
});
