import { is2xx } from "../../base/http-status.ts";
import { rounded } from "../../base/numbers.ts";
import type { LatencyHistogram, LoadEvidence } from "../../evidence/load-evidence.ts";
import { targetLossIn } from "../../load/judge/target-loss.ts";
import type { LoadFinding } from "../../load/judge/finding.ts";
import { quantile } from "../../base/statistics/quantile.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadRun, Percentiles, Spread } from "../../report/model/load-results.ts";

type JudgedOutcome = Extract<TrialResult, { kind: "judged" }>;

export function loadRunOf({ trial, evidence, findings, validity }: JudgedOutcome, file: string): LoadRun {
  const requests = countsOf(evidence);
  const perSecond = (count: number): number =>
    evidence.durationMs === 0 ? 0 : rounded((count * 1000) / evidence.durationMs, timeDecimals);
  const { dropped, late, busiest, planned, sent } = evidence.generator;
  return {
    scenario: evidence.scenario,
    title: trial.scenario.title,
    tier: evidence.tier,
    engine: evidence.engine,
    engineVersion: evidence.engineVersion,
    segments: evidence.segments,
    evidence: file,
    started: evidence.startedAt,
    durationMs: rounded(evidence.durationMs, timeDecimals),
    speed: evidence.speed,
    isFresh: evidence.isFresh,
    requests: { planned, sent, ...requests },
    perSecond: { sent: perSecond(sent), admitted: perSecond(requests.admitted) },
    latencyMs: { admitted: percentilesOf(evidence.latency.admitted), refused: percentilesOf(evidence.latency.refused) },
    streams: streamsOf(evidence),
    generator: { dropped, late, busiest: busiest === null ? null : rounded(busiest, timeDecimals) },
    validity,
    windows: windowKind(findings),
    serverRssBytes: memoryOf(evidence),
    notes: [...evidence.notes, ...targetLossNotes(evidence)],
    stopped: evidence.stopped,
  };
}

/** Decimal places of milliseconds: load engines measure no finer than microseconds. */
const timeDecimals = 3;

type ResponseCounts = Pick<LoadRun["requests"], "admitted" | "refused" | "failed" | "unanswered" | "left">;

function countsOf({ requests, summary }: LoadEvidence): ResponseCounts {
  const counts = { admitted: 0, refused: 0, failed: 0, unanswered: 0, left: 0 };
  for (const { status, left } of requests) {
    if (left) counts.left += 1;
    if (status !== null) counts[outcomeOfStatus(status)] += 1;
    else if (!left) counts.unanswered += 1;
  }
  for (const { admitted, refused, failed, unanswered } of summary) {
    counts.admitted += admitted;
    counts.refused += refused;
    counts.failed += failed;
    counts.unanswered += unanswered;
  }
  return counts;
}

function outcomeOfStatus(status: number): "admitted" | "refused" | "failed" {
  if (is2xx(status)) return "admitted";
  return status === 429 ? "refused" : "failed";
}

function percentilesOf({ count, p50Us, p90Us, p99Us, p999Us, maxUs }: LatencyHistogram): Percentiles | null {
  if (count === 0) return null;
  return { count, p50: p50Us / 1000, p90: p90Us / 1000, p99: p99Us / 1000, p999: p999Us / 1000, max: maxUs / 1000 };
}

function streamsOf({ streams }: LoadEvidence): LoadRun["streams"] {
  if (streams.length === 0) return null;
  const first = streams.flatMap(({ firstEventMs, sentMs }) =>
    firstEventMs === null ? [] : [Math.max(0, firstEventMs - sentMs)],
  );
  const gaps = streams.flatMap(({ longestGapMs }) => longestGapMs ?? []);
  return { count: streams.length, firstEventMs: distribution(first), longestGapMs: distribution(gaps) };
}

function distribution(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const at = (share: number): number => rounded(quantile(values, share), timeDecimals);
  return { count: values.length, median: at(0.5), p99: at(0.99), max: at(1) };
}

/** Returns whether the rate-limit window is fixed or rolling, according to the finding of clause LIM-15. */
function windowKind(findings: readonly LoadFinding[]): string | null {
  const shape = findings.find(({ clause, kind }) => clause === "LIM-15" && kind === "observed");
  return shape?.kind === "observed" ? shape.text : null;
}

function targetLossNotes(evidence: LoadEvidence): string[] {
  const loss = targetLossIn(evidence);
  return loss === null ? [] : [`Only what was sent before counts: ${loss.reason}.`];
}

function memoryOf({ server }: LoadEvidence): LoadRun["serverRssBytes"] {
  const [first, ...others] = server?.rssBytes ?? [];
  if (first === undefined) return null;
  return { first, last: others.at(-1) ?? first, most: Math.max(first, ...others) };
}
