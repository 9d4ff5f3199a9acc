import { requirementsOf } from "../../report/model/requirements.ts";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { scenarioNamed } from "../../load/scenarios.ts";
import { tierNames } from "../../spec/tiers.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatTrial } from "../../report/model/trial-id.ts";
import type { FindingTrial } from "../../report/model/load-results.ts";
import { partyOf, type Report, type ReportFinding } from "../../report/model/report.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { packageVersion } from "../../base/package-root.ts";
import { suitesOfParty } from "../../suites/all.ts";
import { rejudgeRun } from "../rejudge.ts";
import { readSavedRun } from "../report-folder/saved-run.ts";
import { assembleLoadReport } from "../report/load-report.ts";
import { runEndOf } from "../../report/model/verdict.ts";
import { judgeSavedEvidence } from "../load/saved-evidence.ts";

/** Messages of the command line and of the library. Either may have written the report. */
export type PossibleMessages = readonly [Messages, ...Messages[]];

/** A saved report, and a new report that this version makes of the same evidence. */
export interface RejudgedReport {
  readonly report: Report;
  readonly again: Report;
  /** Findings of must clauses that the report lists as not selected; empty for a load report. */
  readonly unselected: readonly ReportFinding[];
  /** A line of text for each contradiction between evidence and report, such as different base URLs. */
  readonly mismatches: readonly string[];
}

/**
 * Judges the evidence in a report's folder again, as `conformance rejudge` and `conformance load judge` do. Findings of
 * load trials without evidence are copied.
 *
 * @param wordings messages of the command line and of the library, either of which may have written the report
 * @throws {UsageError} if the evidence cannot be read
 */
export function rejudgeReport(folder: string, report: Report, wordings: PossibleMessages): RejudgedReport {
  if (report.load !== undefined)
    return { report, again: judgeLoadAgain(folder, report, report.load.runs), unselected: [], mismatches: [] };
  const kept = readSavedRun(folder);
  const requirements = requirementsOf(kept.report);
  const again = (messages: Messages): Report => rejudgeRun(kept.report, kept.evidence, messages, { requirements });
  const isOf = (messages: Messages): boolean => isDeepStrictEqual(again(messages).findings, kept.report.findings);
  const messages = wordings.find(isOf) ?? wordings[0];
  const isUnselected = ({ clause }: ReportFinding): boolean => kept.report.unselected.includes(clause);
  return {
    report: kept.report,
    again: again(messages),
    unselected: rejudgeRun(kept.report, kept.evidence, messages, {
      requirements,
      selected: suitesOfParty(partyOf(kept.report)),
    }).findings.filter(isUnselected),
    mismatches: occasionMismatches(kept.report, kept.evidence),
  };
}

/**
 * Checks that a report's target and number of requests fit the evidence, and returns contradictions. Evidence has the
 * first request, but may lack others.
 */
function occasionMismatches(report: Report, { exchanges }: Evidence): string[] {
  const { target, requests } = report;
  const urls = exchanges.map(({ request }) => request.url);
  const [first] = urls;
  const expected = partyOf(report) === "receiver" ? target.baseUrl : `${target.baseUrl}/agents`;
  const isOther = first !== undefined && !urls.some((url) => url.startsWith(expected));
  return [
    ...(isOther
      ? [`target.baseUrl: the report says ${quoted(target.baseUrl)}, its evidence is of ${quoted(first)}`]
      : []),
    ...(requests < urls.length ? [`requests: the report says ${requests}, its evidence has ${urls.length}`] : []),
  ];
}

const quoted = (text: string): string => JSON.stringify(sanitizeLine(text, 160));

function judgeLoadAgain(folder: string, report: Report, runs: NonNullable<Report["load"]>["runs"]): Report {
  const files = runs.map(({ evidence }) => evidence);
  const kept = files.flatMap((file) =>
    judgeSavedEvidence([join(folder, file)], 0).map(({ outcome }) => ({ outcome, file })),
  );
  const fileOf = new Map(kept.map(({ outcome, file }) => [outcome.trial, file]));
  return assembleLoadReport([...kept.map(({ outcome }) => outcome), ...trialsWithoutEvidence(report, runs)], {
    version: packageVersion(),
    requirements: requirementsOf(report),
    target: report.target,
    started: new Date(report.started),
    finished: new Date(report.finished),
    waitedMs: report.waitedMs,
    end: runEndOf(report),
    fileOf: (trial) => fileOf.get(trial) ?? "",
  });
}

/** Returns the trials that have findings but no evidence, because they were skipped or the harness failed. */
function trialsWithoutEvidence({ findings }: Report, runs: NonNullable<Report["load"]>["runs"]): TrialResult[] {
  const sent = new Set(runs.map((run) => formatTrial({ ...run, tier: run.tier ?? "enterprise" })));
  const groups = Map.groupBy(findings, ({ load }) => (load === undefined ? "" : formatTrial(load)));
  return [...groups].flatMap(([name, [first]]): TrialResult[] => {
    const trial = first?.load === undefined || sent.has(name) ? null : trialOf(first.load);
    if (first === undefined || trial === null) return [];
    const reason = first.reason ?? "";
    return first.outcome === "error"
      ? [{ kind: "broken", trial, error: reason, evidence: null }]
      : [{ kind: "skipped", trial, reason, needs: first.needs ?? null }];
  });
}

function trialOf({ engine, ...load }: FindingTrial): LoadTrial | null {
  const scenario = scenarioNamed(load.scenario);
  const tier = tierNames.find((name) => name === load.tier);
  if (scenario === undefined || tier === undefined || (engine !== "k6" && engine !== "autocannon")) return null;
  return { scenario, tier, engine };
}
