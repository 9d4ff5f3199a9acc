import exec from "k6/execution";

import { getPath } from "../../src/base/json.ts";
import type { EndLine, SampleLine } from "../../src/load/engines/k6/lines.ts";
import type { Settings } from "./settings.ts";

export function writeLine(line: SampleLine | EndLine): void {
  console.log(JSON.stringify(line));
}

/**
 * The `handleSummary` function of k6. With `isRecording`, writes the last line of the evidence log. Otherwise, prints a
 * summary.
 */
export function summarize(data: unknown, scenario: string, settings: Settings): Record<string, string> {
  if (!settings.isRecording) return { stdout: `${summaryLines(data).join("\n")}\n` };
  writeLine({
    load: "end",
    scenario,
    tier: settings.tier,
    limits: settings.limits,
    speed: settings.speed,
    segment: exec.test.options.executionSegment ?? "0:1",
    durationMs: Number(getPath(data, "state", "testRunDurationMs") ?? 0),
    droppedIterations: metricValue(data, "dropped_iterations", "count"),
    iterations: metricValue(data, "iterations", "count"),
    errors: metricValue(data, "iteration_errors", "count"),
  });
  return {};
}

/** Returns a value of a metric; 0 if the metric is missing. k6 leaves out metrics without values. */
const metricValue = (data: unknown, metric: string, value: string): number =>
  Number(getPath(data, "metrics", metric, "values", value) ?? 0);

function summaryLines(data: unknown): string[] {
  const counts = [
    "http_reqs",
    "admitted",
    "refused",
    "neither_admitted_nor_refused",
    "iteration_errors",
    "dropped_iterations",
  ];
  const times = ["latency_admitted", "latency_refused"];
  return [
    "",
    ...counts.map((name) => `${name.padEnd(34)} ${metricValue(data, name, "count")}`),
    ...times.map((name) => `${name.padEnd(34)} ${formatPercentiles(data, name)}`),
    "",
    ...checkLines(getPath(data, "root_group")),
    ...thresholdLines(data),
  ];
}

const formatPercentiles = (data: unknown, name: string): string =>
  ["med", "p(95)", "p(99)", "max"]
    .map((percentile) => `${percentile} ${metricValue(data, name, percentile).toFixed(1)} ms`)
    .join("  ");

function checkLines(group: unknown): string[] {
  const checks = Object.values((getPath(group, "checks") as Record<string, unknown> | undefined) ?? {});
  return checks.map((check) => {
    const fails = Number(getPath(check, "fails"));
    return `${fails === 0 ? "ok    " : "FAILED"} ${String(getPath(check, "name"))}${fails === 0 ? "" : `: ${fails} times`}`;
  });
}

function thresholdLines(data: unknown): string[] {
  const metrics = Object.entries((getPath(data, "metrics") as Record<string, unknown> | undefined) ?? {});
  return metrics.flatMap(([metric, value]) =>
    Object.entries((getPath(value, "thresholds") as Record<string, { ok: boolean }> | undefined) ?? {}).map(
      ([threshold, { ok }]) =>
        `${ok ? "ok    " : "FAILED"} ${metric} ${threshold}${ok ? "" : ` (it is ${thresholdValue(value)})`}`,
    ),
  );
}

function thresholdValue(metric: unknown): string {
  const values = getPath(metric, "values");
  return String(getPath(values, "count") ?? getPath(values, "rate"));
}
