import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { clausesHash } from "../report/assemble-report.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import { rejudgeDifferences, statementDifferences } from "../../report/statement/differences.ts";
import {
  type Digests,
  evidenceFileNames,
  reportFileName,
  sha256Of,
  statementOf,
} from "../../report/statement/statement.ts";
import type { Statement } from "../../report/statement/statement-schema.ts";
import { partyOf, type Report } from "../../report/model/report.ts";
import { packageVersion } from "../../base/package-root.ts";
import { line, UsageError } from "../../base/line.ts";
import { folderOf, isWithin, readReportDocument, readSavedRun } from "../report-folder/saved-report.ts";
import { requirementsOf } from "../../report/model/requirements.ts";
import { scenarioNamed } from "../../load/scenarios.ts";
import { tierNames } from "../../spec/tiers.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { formatTrial, type FindingTrial } from "../../report/model/load-results.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { suitesOfParty } from "../../suites/all.ts";
import { rejudgeRun } from "../rejudge.ts";
import { assembleLoadReport } from "../report/load-report.ts";
import { runEndOf } from "../../report/model/verdict.ts";
import { judgeSavedEvidence } from "../load/judge-saved-load.ts";

export interface ReportComparison {
  readonly mismatches: readonly string[];
  readonly notes: readonly string[];
}

export function compareWithReport(statement: Statement, path: string, wordings: PossibleMessages): ReportComparison {
  const document = readReportDocument(path);
  const folder = folderOf(path);
  if (folder !== path && basename(path) !== reportFileName)
    throw new UsageError(
      line`${path} is not ${reportFileName}, so the files beside it are not its evidence. Give the folder that a run has written.`,
    );
  const digests = digestsIn(folder, document.report);
  const differences = statementDifferences(statement, statementOf(document, digests));
  const files = evidenceFileNames(document.report);
  const missing = files.filter((file) => digests[file] === undefined);
  if (files.length === 0 || missing.length > 0) {
    const what = files.length === 0 ? "the report names no evidence" : `${missing.join(", ")} is missing`;
    return { mismatches: [...differences, `The evidence could not be judged: ${what}`], notes: [] };
  }
  const judged = compareWithEvidence(folder, document.report, wordings);
  return { mismatches: [...differences, ...judged.mismatches], notes: judged.notes };
}

function compareWithEvidence(folder: string, kept: Report, wordings: PossibleMessages): ReportComparison {
  const { report, again, unselected, mismatches: wrongFacts } = rejudgeReport(folder, kept, wordings);
  const { differences, leftOut } = rejudgeDifferences(report, again, unselected);
  const left =
    leftOut.length === 0
      ? []
      : [`In the evidence and not in the report, as a selection leaves it out: ${joinFirst(leftOut, 12)}.`];
  if (report.suite.version === packageVersion() && report.suite.clauses === clausesHash(partyOf(report))) {
    const how = "The evidence was judged again, by the same version of the suites.";
    return { mismatches: [...wrongFacts, ...differences], notes: [how, ...left] };
  }
  const { mismatches, notes } = compareWithOtherVersion(report, again, differences);
  return { mismatches: [...wrongFacts, ...mismatches], notes: [...notes, ...left] };
}

function compareWithOtherVersion(
  { suite, verdict }: Report,
  again: Report,
  differences: readonly string[],
): ReportComparison {
  const [theirs, ours] = [suite, again.suite].map(
    ({ version, clauses }) => `version ${sanitizeLine(version, 40)} (clauses ${sanitizeLine(clauses, 40)})`,
  );
  const notes =
    differences.length === 0
      ? [`Judged by ${theirs}; this is ${ours}, which finds the same in every row.`]
      : [`Judged by ${theirs}; this is ${ours}, which differs:`, ...differences.map((each) => `  ${each}`)];
  if (verdict === again.verdict) return { mismatches: [], notes };
  const advice = "verify it with the version that judged";
  return { mismatches: [`verdict: the report says ${verdict}, this version ${again.verdict}: ${advice}`], notes };
}

function digestsIn(folder: string, report: Report): Digests {
  const files = [reportFileName, ...evidenceFileNames(report)].filter((file) => isWithin(folder, file));
  return Object.fromEntries(
    files.flatMap((file) => {
      const path = join(folder, file);
      return existsSync(path) ? [[file, sha256Of(readFileSync(path))]] : [];
    }),
  );
}

/**
 * Sets of texts for skip reasons: the command line has one, the library another. `rejudgeReport` finds the set that the
 * report uses.
 */
export type PossibleMessages = readonly [Messages, ...Messages[]];

function rejudgeReport(folder: string, report: Report, wordings: PossibleMessages) {
  if (report.load !== undefined)
    return { report, again: judgeLoadAgain(folder, report, report.load.runs), unselected: [], mismatches: [] };
  const kept = readSavedRun(folder);
  const requirements = requirementsOf(kept.report);
  const again = (messages: Messages): Report => rejudgeRun(kept.report, kept.evidence, messages, { requirements });
  const isOf = (messages: Messages): boolean => isDeepStrictEqual(again(messages).findings, kept.report.findings);
  const messages = wordings.find(isOf) ?? wordings[0];
  const everything = { requirements, selected: suitesOfParty(partyOf(kept.report)) };
  const { findings } = rejudgeRun(kept.report, kept.evidence, messages, everything);
  return {
    report: kept.report,
    again: again(messages),
    unselected: findings.filter(({ clause }) => kept.report.unselected.includes(clause)),
    mismatches: factMismatches(kept.report, kept.evidence),
  };
}

function factMismatches(report: Report, { exchanges }: Evidence): string[] {
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
    requirements: requirementsOf(report),
    target: report.target,
    started: new Date(report.started),
    finished: new Date(report.finished),
    waitedMs: report.waitedMs,
    end: runEndOf(report),
    fileOf: (trial) => fileOf.get(trial) ?? "",
  });
}

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
