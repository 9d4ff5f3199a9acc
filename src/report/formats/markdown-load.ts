import { formatNumber } from "../../base/numbers.ts";
import type { LoadRun } from "../model/load-results.ts";
import type { ReportFinding } from "../model/report.ts";
import { code, table } from "./markdown-text.ts";

const ms = (value: number): string => (value < 10 ? value.toFixed(1) : formatNumber(Math.round(value)));

const times = (latency: LoadRun["latencyMs"]["admitted"]): string =>
  latency === null ? "–" : `${ms(latency.p50)} / ${ms(latency.p99)}`;

/** A row for each load run, and what of them proves nothing. */
export function loadBlocks(runs: readonly LoadRun[], findings: readonly ReportFinding[]): string[] {
  if (runs.length === 0) return [];
  const head = [
    "scenario",
    "tier",
    "engine",
    "sent",
    "2xx",
    "429",
    "other",
    "2xx p50 / p99 ms",
    "429 p50 / p99 ms",
    "result",
  ];
  const rows = runs.map((run) => [
    code(run.scenario, 60),
    code(run.tier ?? "?", 40),
    code(run.engine, 40),
    formatNumber(run.requests.sent),
    formatNumber(run.requests.admitted),
    formatNumber(run.requests.refused),
    formatNumber(run.requests.failed + run.requests.unanswered),
    times(run.latencyMs.admitted),
    times(run.latencyMs.refused),
    resultOf(run, findings),
  ]);
  const reserves = runs.flatMap((run) => reserveLines(run));
  return ["### Load", table(head, rows, [3, 4, 5, 6, 7, 8]), ...(reserves.length === 0 ? [] : [reserves.join("\n")])];
}

function resultOf(run: LoadRun, findings: readonly ReportFinding[]): string {
  const own = findings.filter(({ evidence }) => evidence?.includes(run.evidence) === true);
  const failed = own.filter(({ outcome }) => outcome === "fail").length;
  if (failed > 0) return `**${failed} failed**`;
  if (run.validity.invalid !== null) return "invalid";
  return `${own.filter(({ outcome }) => outcome === "pass").length} passed`;
}

function reserveLines({ scenario, engine, validity: { invalid, counts, pace } }: LoadRun): string[] {
  const reason = invalid ?? counts ?? pace;
  if (reason === null) return [];
  const what =
    invalid !== null ? "no verdict on the target" : counts !== null ? "not the whole load" : "times prove nothing";
  return [`- ${code(`${scenario} ${engine}`, 80)}: ${what}: ${code(reason, 300)}`];
}
