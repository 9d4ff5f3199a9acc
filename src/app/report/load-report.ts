import { loadChecks, sinceOf } from "../../load/judge/judge.ts";
import { sinceAfterFirstSet } from "../../report/model/requirements.ts";
import { countsIn, type Level, type RequirementSet } from "../../spec/clause.ts";
import { clauseIds, clauseOf, isClauseId } from "../../spec/clauses.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { targetLossIn } from "../../load/judge/target-loss.ts";
import type { LoadFinding } from "../../load/judge/finding.ts";
import {
  assembleReport,
  type FindingDetails,
  findingDetails as rowDetailsOf,
  shortHash,
  tiersOfKeys,
} from "./assemble-report.ts";
import type { ReportFinding, RowLevel } from "../../report/model/finding.ts";
import type { CreatedResource, Report } from "../../report/model/report.ts";
import {
  type LoadRun,
  type Percentiles,
  type Spread,
  formatTierAndEngine,
  trialSuite,
} from "../../report/model/load-results.ts";
import type { Coverage } from "../../run/judge/finding.ts";
import type { Target } from "../../target/target.ts";
import { type RunEnd, runEndFromReason } from "../../report/model/verdict.ts";
import { is2xx } from "../../base/http.ts";
import { rounded } from "../../base/numbers.ts";
import type { LatencyHistogram, LoadEvidence } from "../../evidence/load-evidence.ts";
import { quantile } from "../../base/statistics/samples.ts";

type JudgedOutcome = Extract<TrialResult, { kind: "judged" }>;

function loadRunOf({ trial, evidence, findings, validity }: JudgedOutcome, file: string): LoadRun {
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

/** Decimal places of times and rates. Load engines measure in microseconds, so milliseconds have 3 places. */
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

/** Returns the text of the LIM-15 finding, which says whether rate-limit windows are fixed or rolling. */
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

export interface LoadReportInput {
  readonly requirements: RequirementSet;
  readonly target: Pick<Report["target"], "name" | "baseUrl" | "tiers" | "roles">;
  readonly started: Date;
  readonly finished: Date;
  readonly waitedMs: number;
  readonly end: RunEnd;
  readonly fileOf: (trial: LoadTrial) => string;
}

export function assembleLoadReport(outcomes: readonly TrialResult[], occasion: LoadReportInput): Report {
  const { requirements, target, started, finished, waitedMs, fileOf } = occasion;
  const end = occasion.end.kind === "planned" ? runEndFromReason(firstTargetLoss(outcomes)) : occasion.end;
  const runs = outcomes.flatMap((outcome) =>
    outcome.kind === "judged" ? [loadRunOf(outcome, fileOf(outcome.trial))] : [],
  );
  return assembleReport({
    judging: { requirements, end, unselected: untestedMustClauses(outcomes, requirements), load: { runs } },
    target: { ...target, fingerprint: shortHash(target.baseUrl) },
    started,
    finished,
    durationMs: Math.max(0, finished.getTime() - started.getTime()),
    requests: runs.reduce((sum, { requests }) => sum + requests.sent, 0),
    waitedMs,
    findings: outcomes.flatMap((outcome) => rowsOf(outcome, fileOf(outcome.trial))),
    created: outcomes.flatMap((outcome) => createdWebhookOf(outcome, fileOf(outcome.trial))),
  });
}

const firstTargetLoss = (outcomes: readonly TrialResult[]): string | null =>
  outcomes
    .map((outcome) => (outcome.kind === "judged" ? targetLossIn(outcome.evidence) : null))
    .find((loss) => loss !== null)?.reason ?? null;

function untestedMustClauses(outcomes: readonly TrialResult[], requirements: RequirementSet): string[] {
  const chosen = new Set(outcomes.flatMap(({ trial }) => trial.scenario.claims));
  const all = new Set(
    loadChecks().flatMap(({ clause, since }) => (clause !== null && countsIn(since, requirements) ? [clause] : [])),
  );
  return clauseIds.filter((id) => all.has(id) && !chosen.has(id) && clauseOf(id).level === "must");
}

function rowsOf(outcome: TrialResult, file: string): ReportFinding[] {
  const { trial } = outcome;
  const load = { scenario: trial.scenario.name, tier: trial.tier, engine: trial.engine };
  const common = { suite: trialSuite(load), instance: formatTierAndEngine(load), load };
  switch (outcome.kind) {
    case "judged":
      return outcome.findings.map((finding) => ({
        ...common,
        ...rowOf(finding),
        ...(finding.seen === undefined ? {} : { seen: reportedCoverage(finding.seen) }),
        ...(finding.kind === "inapplicable" ? {} : { evidence: [file] }),
      }));
    case "skipped":
      return trial.scenario.claims.map((clause) => ({
        ...common,
        check: `${clause}/${trial.scenario.name}`,
        clause,
        level: levelOf(clause),
        ...sinceAfterFirstSet(sinceOf(clause, trial.scenario)),
        outcome: "skipped",
        reason: outcome.reason,
        ...(outcome.needs === null ? {} : { needs: outcome.needs }),
      }));
    case "broken":
      return [
        {
          ...common,
          check: `load/harness/${trial.scenario.name}`,
          clause: "load/harness",
          level: "load",
          ...sinceAfterFirstSet(sinceOf(null, trial.scenario)),
          outcome: "error",
          reason: outcome.error,
          ...(outcome.evidence === null ? {} : { evidence: [file] }),
        },
      ];
  }
}

function levelOf(clause: string): Level {
  if (!isClauseId(clause)) throw new Error(`a load scenario claims ${JSON.stringify(clause)}, which is no clause`);
  return clauseOf(clause).level;
}

/** Converts a load check's coverage for the report. `unseen` is empty: a load need not cause every kind of response. */
const reportedCoverage = ({ looked, broken, cells }: Coverage): NonNullable<ReportFinding["seen"]> => ({
  looked,
  broken,
  cells: cells.map((cell) => ({ ...cell })),
  unseen: [],
});

const checkWithoutScenario = (check: string): string => check.split("/").slice(0, 2).join("/");

export const loadReportTarget = (target: Target | null): LoadReportInput["target"] => ({
  name: target?.name ?? "embedded reference server",
  baseUrl: target?.baseUrl ?? "",
  tiers: tiersOfKeys(target?.keys ?? {}),
});

type Row = Omit<ReportFinding, "suite" | "instance">;

function rowOf(finding: LoadFinding): Row {
  const { check, clause } = finding;
  const common =
    clause === null
      ? ({ check, clause: checkWithoutScenario(check), level: "load" } as const)
      : { check, clause, level: levelOf(clause) };
  return { ...common, ...sinceAfterFirstSet(finding.since), ...detailsOf(finding, common.level) };
}

function detailsOf(finding: LoadFinding, level: RowLevel): FindingDetails {
  switch (finding.kind) {
    case "holds":
      return { ...rowDetailsOf({ kind: "holds" }, level), reason: finding.detail };
    case "breach": {
      const { expected, actual, witness } = finding;
      const broken = rowDetailsOf({ kind: "breach", expected, actual, at: [] }, level);
      return { ...broken, ...(witness.length === 0 ? {} : { witness }) };
    }
    case "inapplicable":
    case "observed":
    case "unproven":
      return rowDetailsOf(finding, level);
  }
}

function createdWebhookOf(outcome: TrialResult, exchange: string): CreatedResource[] {
  if (outcome.kind === "skipped" || outcome.evidence === null || outcome.evidence.deliveries === null) return [];
  const at = new Date(outcome.evidence.startedAt).toISOString();
  return [{ kind: "webhook", id: null, key: "main", at, exchange }];
}
