import { countsIn, type RequirementSet } from "../spec/requirements.ts";
import { newestRequirementsFor } from "../report/model/requirements.ts";
import { judgedParts, withProfileResults } from "./report/assemble.ts";
import { withOffers } from "./report/offers.ts";
import { findingRowOf } from "./report/run-report.ts";
import { createdResources } from "./report/created.ts";
import { unseenPairsOf, withUnseenPairs } from "./report/unseen-pairs.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { clauseOf } from "../spec/clauses.ts";
import { partyOf, type Report } from "../report/model/report.ts";
import { type Check, probesOf, type Suite } from "../run/judge/check.ts";
import { judgeEvidence, type ProbeResults } from "../run/judge/judge-evidence.ts";
import { isSelectedBy } from "../run/plan/selection.ts";
import type { Messages } from "../run/skip-reason.ts";
import { runEndOf } from "../report/model/verdict.ts";
import { suitesOfParty } from "../suites/all.ts";
import { cornersRequested, type PairCoverage } from "../suites/coverage/probe.ts";
import { allExchanges, type AllExchanges } from "../suites/shared/all-exchanges.ts";
import { recordedClientSuites } from "../suites/recorded/client-suites.ts";
import { recordedSuites } from "../suites/recorded/recorded-suites.ts";
import { packageVersion } from "../base/package-root.ts";

interface RejudgeOptions {
  /** The requirement set to judge by. Default: the newest. */
  readonly requirements?: RequirementSet;
  /**
   * The checks to judge. Default: the checks that the run selected, newer checks whose evidence the run happens to have, and checks of
   * later requirement sets.
   */
  readonly selected?: readonly Suite[];
}

/**
 * Judges saved evidence with the checks of this version. Sends nothing. Keeps the wording of texts in the evidence, such as skip reasons.
 */
export function rejudgeRun(
  report: Report,
  evidence: Evidence,
  messages: Messages,
  { requirements = newestRequirementsFor(report), selected = suitesOf(report, evidence) }: RejudgeOptions = {},
): Report {
  const results: ProbeResults = Map.groupBy(evidence.probes, ({ probe }) => probe);
  const findings = withUnseenPairs(
    judgeEvidence(selected, results).map((each) => findingRowOf(each, messages)),
    unseenPairsOf(pairCoverageIn(evidence), report.selection),
  );
  return withProfileResults({
    ...report,
    ...judgedParts(
      withOffers(findings, {
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

/** Returns the path of the batch endpoint that the target file gave; `null` without one. */
function batchPathIn({ probes }: Evidence): string | null {
  const result = probes.find(({ probe }) => probe === allExchanges.name)?.result;
  return result?.kind === "ran" ? ((result.evidence as AllExchanges).batchPath ?? null) : null;
}

/** Returns which pairs of request properties occurred together in some request; `null` if the run did not count pairs. */
function pairCoverageIn({ probes }: Evidence): PairCoverage | null {
  const result = probes.find(({ probe }) => probe === cornersRequested.name)?.result;
  return result?.kind === "ran" ? (result.evidence as PairCoverage) : null;
}

/** Returns the checks that the run selected, and newer checks whose evidence the run happens to have. */
function suitesOf(report: Report, { probes }: Evidence): Suite[] {
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
    // Whether the run selected this check. Reports of earlier versions lack the selection, and list only `must` clauses as unselected. For
    // other clauses in such a report, a check counts as selected if its section was judged and it has evidence. Review probes do not count
    // as evidence, because every run has them.
    const isOwn =
      selection !== undefined ||
      clauseOf(clause).level === "must" ||
      (sections.has(section) && rests.some(({ stage }) => stage !== "review"));
    return isOwn && rests.every(({ name }) => planned.has(name));
  };
  // Whether the check belongs to a later requirement set than the run. Such a check counts as skipped without evidence. If it were left
  // out, a report could pass a set that its run did not exercise.
  const isLater = ({ since }: Check): boolean =>
    !countsIn(since, judged.requirements) && (selection !== undefined || unselected.length === 0);
  const isJudged = (check: Check, section: string): boolean =>
    isWanted(check, section) &&
    !unselected.includes(check.clause) &&
    (selected.has(check.id) || hasCome(check, section) || isLater(check));
  return suitesOfParty(party).map((suite) => ({
    ...suite,
    checks: suite.checks.filter((each) => isJudged(each, suite.title)),
  }));
}
