import { countsIn, type RequirementSet } from "../spec/clause.ts";
import { newestRequirementsFor } from "../report/model/requirements.ts";
import { verdictParts, withProfileResults } from "./report/assemble-report.ts";
import { reportedFindings } from "./report/findings.ts";
import { createdResources } from "./report/run-report.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { clauseOf } from "../spec/clauses.ts";
import { partyOf, type Report } from "../report/model/report.ts";
import { type Check, probesOf, type Suite, filterChecks } from "../run/judge/check.ts";
import { judgeEvidence, type ProbeResults } from "../run/judge/judge-evidence.ts";
import { isAboutKeys, suitesFor, selectionMatcher } from "../run/plan/selection.ts";
import type { Probe } from "../run/probe.ts";
import type { Messages } from "../run/skip-reason.ts";
import { runEndOf } from "../report/model/verdict.ts";
import { suitesOfParty } from "../suites/all.ts";
import { pairRequestsSent, type PairCoverage } from "../suites/coverage/probe.ts";
import { allExchanges, type AllExchanges } from "../suites/shared/all-exchanges.ts";
import { recordedClientSuites, recordedSuites } from "../suites/recorded/recorded-suites.ts";

interface RejudgeOptions {
  readonly requirements?: RequirementSet;
  readonly selected?: readonly Suite[];
}

/** Judges saved evidence by the checks of this version of the harness. A skipped probe keeps its skip reason. */
export function rejudgeRun(
  report: Report,
  evidence: Evidence,
  messages: Messages,
  { requirements = newestRequirementsFor(report), selected = suitesToJudge(report, evidence) }: RejudgeOptions = {},
): Report {
  const results: ProbeResults = Map.groupBy(evidence.probes, ({ probe }) => probe);
  const judgements = judgeEvidence(suitesFor(selected, { auth: authOf(report) }), results);
  const findings = reportedFindings(judgements, messages, {
    coverage: (evidenceOf(evidence, pairRequestsSent) as PairCoverage | undefined) ?? null,
    selection: report.selection,
    offers: report.target.offers ?? null,
    exchanges: evidence.exchanges,
    batchPath: (evidenceOf(evidence, allExchanges) as AllExchanges | undefined)?.batchPath ?? null,
  });
  const { unselected } = report;
  return withProfileResults({
    ...report,
    ...verdictParts(findings, { party: partyOf(report), requirements, end: runEndOf(report), unselected, load: null }),
    created:
      partyOf(report) === "server" && report.recording === undefined
        ? createdResources(evidence.exchanges, new Date(report.started))
        : [],
  });
}

function evidenceOf({ probes }: Evidence, { name }: Probe): unknown {
  const result = probes.find(({ probe }) => probe === name)?.result;
  return result?.kind === "ran" ? result.evidence : undefined;
}

const authOf = ({ findings }: Report): "keys" | "none" =>
  findings.some(({ clause, exempt }) => exempt === true && isAboutKeys(clause)) ? "none" : "keys";

/**
 * Selects the checks of the report and of later requirement sets. Also selects checks that this version has added, if
 * the evidence that they need was saved.
 */
function suitesToJudge(report: Report, { probes }: Evidence): Suite[] {
  const { suite: judged, unselected, findings, upcoming, selection } = report;
  const party = partyOf(report);
  if (report.recording !== undefined && party === "client") return [...recordedClientSuites];
  if (report.recording !== undefined) return recordedSuites(report.recording.shows);
  const selected = new Set([...findings, ...upcoming].map(({ check }) => check));
  const sections = new Set(findings.map(({ suite }) => suite));
  const isWanted = selectionMatcher(selection ?? { only: [], skip: [] });
  const planned = new Set(probes.map(({ probe }) => probe));
  const isAdded = ({ clause, on }: Check, section: string): boolean => {
    const needed = Object.values(probesOf(on));
    // Whether the report's run selected the check. If `selection` is absent, the run had every check, or the report is
    // old. Then `unselected` lists the `must` clauses that the run left out. A check of another clause needs a finding
    // in its section, and a probe outside the stage `review`.
    const isOwn =
      selection !== undefined ||
      clauseOf(clause).level === "must" ||
      (sections.has(section) && needed.some(({ stage }) => stage !== "review"));
    return isOwn && needed.every(({ name }) => planned.has(name));
  };
  // Whether the check is newer than the report's requirement set. The new report shows it even if it was not exercised.
  // Without `selection`, an empty `unselected` means that the run had every check.
  const isLater = ({ since }: Check): boolean =>
    !countsIn(since, judged.requirements) && (selection !== undefined || unselected.length === 0);
  const isJudged = (check: Check, section: string): boolean =>
    isWanted(check, section) &&
    !unselected.includes(check.clause) &&
    (selected.has(check.id) || isAdded(check, section) || isLater(check));
  return filterChecks(suitesOfParty(party), isJudged);
}
