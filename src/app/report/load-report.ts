import { loadChecks, sinceOf } from "../../load/judge/judge.ts";
import { sinceField } from "../../report/model/requirements.ts";
import { countsIn, type RequirementSet } from "../../spec/requirements.ts";
import { clauseIds, clauseOf, isClauseId } from "../../spec/clauses.ts";
import type { Level } from "../../spec/clause.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { targetLossIn } from "../../load/judge/target-loss.ts";
import type { LoadFinding } from "../../load/judge/finding.ts";
import {
  assembleReport,
  shortHash,
  tiersOfKeys,
  type FindingDetails,
  findingDetails as rowDetailsOf,
} from "./assemble-report.ts";
import type { CreatedResource, Report, ReportFinding, RowLevel } from "../../report/model/report.ts";
import { trialInstance, trialSuite } from "../../report/model/load-results.ts";
import type { Coverage } from "../../run/judge/coverage.ts";
import type { Target } from "../../target/target.ts";
import { type RunEnd, runEndFromReason } from "../../report/model/verdict.ts";
import { loadRunOf } from "./load-run.ts";

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
  const place = { suite: trialSuite(load), instance: trialInstance(load), load };
  switch (outcome.kind) {
    case "judged":
      return outcome.findings.map((finding) => ({
        ...place,
        ...rowOf(finding),
        ...(finding.seen === undefined ? {} : { seen: reportedCoverage(finding.seen) }),
        ...(finding.kind === "inapplicable" ? {} : { evidence: [file] }),
      }));
    case "skipped":
      return trial.scenario.claims.map((clause) => ({
        ...place,
        check: `${clause}/${trial.scenario.name}`,
        clause,
        level: levelOf(clause),
        ...sinceField(sinceOf(clause, trial.scenario)),
        outcome: "skipped",
        reason: outcome.reason,
        ...(outcome.needs === null ? {} : { needs: outcome.needs }),
      }));
    case "broken":
      return [
        {
          ...place,
          check: `load/harness/${trial.scenario.name}`,
          clause: "load/harness",
          level: "load",
          ...sinceField(sinceOf(null, trial.scenario)),
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

/** A load does not have to cause every kind of response. Therefore `unseen` is empty. */
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
  const place =
    clause === null
      ? ({ check, clause: checkWithoutScenario(check), level: "load" } as const)
      : { check, clause, level: levelOf(clause) };
  return { ...place, ...sinceField(finding.since), ...detailsOf(finding, place.level) };
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
