import { isClauseIn, splitFindings } from "../../report/model/requirements.ts";
import { breachOutcomeByLevel, type Party, type RequirementSet } from "../../spec/clause.ts";
import { createHash } from "node:crypto";

import { clauseOf, clausesOfParty } from "../../spec/clauses.ts";
import { packageVersion } from "../../base/package-root.ts";
import { withoutUndefined } from "../../base/json.ts";
import type { Target } from "../../target/target.ts";
import type { LoadResults } from "../../report/model/load-results.ts";
import type { ReportFinding, Outcome, RowLevel } from "../../report/model/finding.ts";
import { type Report, type StatedFacts, statedFactsOf } from "../../report/model/report.ts";
import { profileResultsOf, limitVerdicts } from "../../report/model/profiles.ts";
import { type RunEnd, hasInvalidLoad, totalsOf, reportVerdict } from "../../report/model/verdict.ts";
import type { Unproven } from "../../run/judge/finding.ts";
import type { SkipText } from "../../run/skip-reason.ts";
import type { Judgement } from "../../run/judge/judge-evidence.ts";

interface JudgingInput {
  readonly party?: Party;
  readonly requirements: RequirementSet;
  readonly end: RunEnd;
  readonly unselected: readonly string[];
  readonly load: LoadResults | null;
}

interface ReportParts
  extends StatedFacts, Pick<Report, "target" | "durationMs" | "requests" | "waitedMs" | "findings" | "created"> {
  readonly judging: JudgingInput;
  readonly started: Date;
  readonly finished: Date;
  readonly executions?: number | undefined;
  readonly lost?: number;
  readonly away?: string | undefined;
  readonly pairs?: Report["pairs"] | undefined;
  readonly streaming?: Report["streaming"] | undefined;
}

/** Assembles a report from findings and facts of a run. Does not redact secrets in the findings. */
export function assembleReport({ judging, started, finished, findings, ...parts }: ReportParts): Report {
  const { suite, untestable, ...judged } = verdictParts(findings, judging);
  const { end, unselected, load } = judging;
  const report = withoutUndefined({
    format: "agent-hosting-conformance/report/1" as const,
    suite,
    party: judging.party,
    target: parts.target,
    started: started.toISOString(),
    finished: finished.toISOString(),
    durationMs: Math.round(parts.durationMs),
    requests: parts.requests,
    executions: parts.executions,
    lost: parts.lost,
    waitedMs: Math.round(parts.waitedMs),
    away: parts.away,
    stopped: end.kind === "planned" ? undefined : end.why,
    ...judged,
    pairs: parts.pairs,
    streaming: parts.streaming,
    created: parts.created,
    unselected,
    ...statedFactsOf(parts),
    untestable,
    load: load ?? undefined,
  });
  return withProfileResults(report);
}

export function withProfileResults({ profiles: _before, limits: _limits, ...report }: Report): Report {
  const profiles = profileResultsOf(report);
  return profiles.length === 0 ? report : { ...report, profiles, limits: limitVerdicts(report.findings) };
}

export function verdictParts(
  findings: readonly ReportFinding[],
  { party = "server", requirements, end, unselected, load }: JudgingInput,
): Pick<Report, "suite" | "verdict" | "totals" | "findings" | "upcoming" | "untestable"> {
  const split = splitFindings(findings, requirements);
  return {
    suite: { version: packageVersion(), clauses: clausesHash(party), requirements },
    verdict: reportVerdict({ findings: split.findings, end, unselected, hasInvalidLoad: hasInvalidLoad(load) }),
    totals: totalsOf(split.findings),
    ...split,
    untestable: untestableClauses(party).filter(({ clause }) => isClauseIn(clause, requirements)),
  };
}

const untestableClauses = (party: Party): Report["untestable"] =>
  clausesOfParty(party).flatMap((clause) => {
    const { level, untestable } = clauseOf(clause);
    return untestable === undefined ? [] : [{ clause, level, reason: untestable }];
  });

/** Returns a hash of all clauses that bind a party. Reports with the same hash were judged by the same clauses. */
export const clausesHash = (party: Party): string =>
  shortHash(JSON.stringify(clausesOfParty(party).map((id) => [id, clauseOf(id)])));

export const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

export const tiersOfKeys = (keys: Target["keys"]): Report["target"]["tiers"] =>
  Object.fromEntries(Object.values(keys).flatMap(({ name, tier }) => (tier === null ? [] : [[name, tier]])));

const breachOutcomes: Readonly<Record<RowLevel, Outcome>> = { ...breachOutcomeByLevel, load: "fail" };

export type FindingDetails = Pick<ReportFinding, "outcome"> & Partial<ReportFinding>;

export type FindingWithTexts = Exclude<Judgement["finding"], Unproven> | ({ readonly kind: "unproven" } & SkipText);

/** Converts a check's result for the report. By the clause's level, a breach becomes a fail, a warning or a note. */
export function findingDetails(finding: FindingWithTexts, level: RowLevel): FindingDetails {
  switch (finding.kind) {
    case "holds":
      return { outcome: "pass" };
    case "follows":
      return { outcome: "pass", reading: finding.reading };
    case "breach":
      return {
        outcome: breachOutcomes[level],
        expected: finding.expected,
        actual: finding.actual,
        ...(finding.excessPercent === undefined ? {} : { excessPercent: finding.excessPercent }),
      };
    case "noted":
      return { outcome: "note", expected: finding.expected, actual: finding.actual };
    case "observed":
      return { outcome: "observed", reason: finding.text };
    case "error":
      return { outcome: "error", reason: finding.reason };
    case "inapplicable":
      return { outcome: "skipped", reason: finding.reason, ...(finding.exempt && { exempt: true }) };
    case "unproven":
      return {
        outcome: "skipped",
        reason: finding.reason,
        ...(finding.needs === null ? {} : { needs: finding.needs }),
      };
  }
}
