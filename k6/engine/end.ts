import exec from "k6/execution";

import { getPath } from "../../src/base/json.ts";
import { write } from "./lines.ts";
import type { Settings } from "./settings.ts";

/**
 * k6's `handleSummary`: writes the last line for whoever records. By hand it gives way to k6's own summary, which cannot be called from
 * here: so the few numbers that matter are printed.
 */
export function finish(data: unknown, scenario: string, settings: Settings): Record<string, string> {
  if (settings.isRecording) {
    write({
      load: "end",
      scenario,
      tier: settings.tier,
      limits: settings.limits,
      speed: settings.speed,
      segment: exec.test.options.executionSegment ?? "0:1",
      durationMs: Number(getPath(data, "state", "testRunDurationMs") ?? 0),
      droppedIterations: valueOf(data, "dropped_iterations", "count"),
      iterations: valueOf(data, "iterations", "count"),
      errors: valueOf(data, "iteration_errors", "count"),
    });
    return {};
  }
  return { stdout: `${linesOf(data).join("\n")}\n` };
}

/** 0 for a metric that was never touched: k6 leaves it out. */
const valueOf = (data: unknown, metric: string, value: string): number =>
  Number(getPath(data, "metrics", metric, "values", value) ?? 0);

function linesOf(data: unknown): string[] {
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
    ...counts.map((name) => `${name.padEnd(34)} ${valueOf(data, name, "count")}`),
    ...times.map((name) => `${name.padEnd(34)} ${percentilesOf(data, name)}`),
    "",
    ...checksOf(getPath(data, "root_group")),
    ...thresholdsOf(data),
  ];
}

const percentilesOf = (data: unknown, name: string): string =>
  ["med", "p(95)", "p(99)", "max"].map((of) => `${of} ${valueOf(data, name, of).toFixed(1)} ms`).join("  ");

function checksOf(group: unknown): string[] {
  const checks = Object.values((getPath(group, "checks") as Record<string, unknown> | undefined) ?? {});
  return checks.map((one) => {
    const fails = Number(getPath(one, "fails"));
    return `${fails === 0 ? "ok    " : "FAILED"} ${String(getPath(one, "name"))}${fails === 0 ? "" : `: ${fails} times`}`;
  });
}

/** A threshold of ours is on a count or, for checks, on a rate. */
function seenOf(metric: unknown): string {
  const values = getPath(metric, "values");
  return String(getPath(values, "count") ?? getPath(values, "rate"));
}

function thresholdsOf(data: unknown): string[] {
  const metrics = Object.entries((getPath(data, "metrics") as Record<string, unknown> | undefined) ?? {});
  return metrics.flatMap(([metric, value]) =>
    Object.entries((getPath(value, "thresholds") as Record<string, { ok: boolean }> | undefined) ?? {}).map(
      ([threshold, { ok }]) =>
        `${ok ? "ok    " : "FAILED"} ${metric} ${threshold}${ok ? "" : ` (it is ${seenOf(value)})`}`,
    ),
  );
}
