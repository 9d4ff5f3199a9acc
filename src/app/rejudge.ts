import { countsIn, type RequirementSet } from "../spec/requirements.ts";
import { newestRequirementsFor } from "../report/model/requirements.ts";
import { verdictParts, withProfileResults } from "./report/assemble-report.ts";
import { withoutMissingProfiles, untriedPairs, withUntriedPairFindings } from "./report/findings.ts";
import { findingRowOf, createdResources } from "./report/run-report.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { clauseOf } from "../spec/clauses.ts";
import { partyOf, type Report } from "../report/model/report.ts";
import { type Check, probesOf, type Suite, filterChecks } from "../run/judge/check.ts";
import { judgeEvidence, type ProbeResults } from "../run/judge/judge-evidence.ts";
import { isAboutKeys, suitesFor } from "../run/plan/without-keys.ts";
import { isSelectedBy } from "../run/plan/selection.ts";
import type { Messages } from "../run/skip-reason.ts";
import { runEndOf } from "../report/model/verdict.ts";
import { suitesOfParty } from "../suites/all.ts";
import { cornersRequested, type PairCoverage } from "../suites/coverage/probe.ts";
import { allExchanges, type AllExchanges } from "../suites/shared/all-exchanges.ts";
import { recordedClientSuites, recordedSuites } from "../suites/recorded/recorded-suites.ts";
import { packageVersion } from "../base/package-root.ts";

interface RejudgeOptions {
  /** The requirement set to judge by. Default: the newest. */
  readonly requirements?: RequirementSet;
  /**
   * The checks to judge by. Default: those that the run selected, newer ones for which it has evidence, and those of
   * later requirement sets.
   */
  readonly selected?: readonly Suite[];
}

/**
 * Judges saved evidence with the checks of this version, and returns a new report. Sends nothing. Texts in the
 * evidence, such as skip reasons, stay as they are.
 */
export function rejudgeRun(
  report: Report,
  evidence: Evidence,
  messages: Messages,
  { requirements = newestRequirementsFor(report), selected = suitesToJudge(report, evidence) }: RejudgeOptions = {},
): Report {
  const results: ProbeResults = Map.groupBy(evidence.probes, ({ probe }) => probe);
  const findings = withUntriedPairFindings(
    judgeEvidence(suitesFor(selected, { auth: authOf(report) }), results).map((each) => findingRowOf(each, messages)),
    untriedPairs(pairCoverageIn(evidence), report.selection),
  );
  return withProfileResults({
    ...report,
    ...verdictParts(
      withoutMissingProfiles(findings, {
        offers: report.target.offers ?? null,
        selected: report.selection?.profiles ?? null,
        exchanges: evidence.exchanges,
        batchPath: batchPathIn(evidence),
      }),
      {
        version: packageVersion(),
        party: partyOf(report),
        requirements,
        end: runEndOf(report),
        unselected: report.unselected,
        load: null,
      },
    ),
    created:
      partyOf(report) === "server" && report.recording === undefined
        ? createdResources(evidence.exchanges, new Date(report.started))
        : [],
  });
}

/** Returns the path of the batch endpoint in the target file of the run; `null` if it had none. */
function batchPathIn({ probes }: Evidence): string | null {
  const result = probes.find(({ probe }) => probe === allExchanges.name)?.result;
  return result?.kind === "ran" ? ((result.evidence as AllExchanges).batchPath ?? null) : null;
}

/** Whether the target of a report asked for keys: its clauses about keys are judged, and not exempt. */
const authOf = ({ findings }: Report): "keys" | "none" =>
  findings.some(({ clause, exempt }) => exempt === true && isAboutKeys(clause)) ? "none" : "keys";

/** Returns which pairs of request properties the run tried; `null` if the run did not record that. */
function pairCoverageIn({ probes }: Evidence): PairCoverage | null {
  const result = probes.find(({ probe }) => probe === cornersRequested.name)?.result;
  return result?.kind === "ran" ? (result.evidence as PairCoverage) : null;
}

/**
 * Returns the checks by which to judge a saved run: its own, newer ones for which it has evidence, and those of later
 * requirement sets.
 */
function suitesToJudge(report: Report, { probes }: Evidence): Suite[] {
  const { suite: judged, unselected, findings, upcoming, selection } = report;
  const party = partyOf(report);
  if (report.recording !== undefined && party === "client") return [...recordedClientSuites];
  if (report.recording !== undefined) return recordedSuites(report.recording.shows);
  const selected = new Set([...findings, ...upcoming].map(({ check }) => check));
  const sections = new Set(findings.map(({ suite }) => suite));
  const isWanted = isSelectedBy(selection ?? { only: [], skip: [] });
  const planned = new Set(probes.map(({ probe }) => probe));
  const hasCome = ({ clause, on }: Check, section: string): boolean => {
    const rests = Object.values(probesOf(on));
    // Whether the run selected this check. Old reports do not record that for clauses other than `must`: there, a check
    // needs findings in its section, and evidence apart from review probes, which every run has.
    const isOwn =
      selection !== undefined ||
      clauseOf(clause).level === "must" ||
      (sections.has(section) && rests.some(({ stage }) => stage !== "review"));
    return isOwn && rests.every(({ name }) => planned.has(name));
  };
  // Whether the check came with a later requirement set than the run's. It is judged, and skipped without evidence.
  // Otherwise, an old run could pass a set that it did not exercise.
  const isLater = ({ since }: Check): boolean =>
    !countsIn(since, judged.requirements) && (selection !== undefined || unselected.length === 0);
  const isJudged = (check: Check, section: string): boolean =>
    isWanted(check, section) &&
    !unselected.includes(check.clause) &&
    (selected.has(check.id) || hasCome(check, section) || isLater(check));
  return filterChecks(suitesOfParty(party), isJudged);
}
