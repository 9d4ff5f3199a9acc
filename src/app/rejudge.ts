import { judgedParts } from "./report/assemble.ts";
import { findingRowOf } from "./report/run-report.ts";
import { createdResources } from "./report/created.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { clauseOf } from "../spec/clauses.ts";
import type { Report } from "../report/model/report.ts";
import { type Check, probesOf, type Suite } from "../run/judge/check.ts";
import { judgeAll, type ProbeResults } from "../run/judge/judge.ts";
import { isSelectedBy } from "../run/plan/selection.ts";
import type { Messages } from "../run/skip-reason.ts";
import { runEndOf } from "../report/model/verdict.ts";
import { suites } from "../suites/all.ts";
import { packageVersion } from "./version.ts";

/**
 * Judges saved evidence by the suites of this version. Sends nothing. Texts that are part of the evidence do not change.
 *
 * @param selected default: the checks that the run selected, and newer checks that need only the run's probes
 */
export function rejudgeRun(
  report: Report,
  evidence: Evidence,
  messages: Messages,
  selected: readonly Suite[] = suitesOf(report, evidence),
): Report {
  const results: ProbeResults = Map.groupBy(evidence.probes, ({ probe }) => probe);
  return {
    ...report,
    ...judgedParts(
      judgeAll(selected, results).map((each) => findingRowOf(each, messages)),
      {
        version: packageVersion(),
        end: runEndOf(report),
        unselected: report.unselected,
        load: null,
      },
    ),
    created: createdResources(evidence.exchanges, new Date(report.started)),
  };
}

/** Selects the checks of the run, and newer checks that need no more evidence than the run has. */
function suitesOf({ unselected, findings, selection }: Report, { probes }: Evidence): Suite[] {
  const selected = new Set(findings.map(({ check }) => check));
  const sections = new Set(findings.map(({ suite }) => suite));
  const isWanted = isSelectedBy(selection ?? { only: [], skip: [] });
  const planned = new Set(probes.map(({ probe }) => probe));
  const hasCome = ({ clause, on }: Check, section: string): boolean => {
    const rests = Object.values(probesOf(on));
    // Checks that the run did not select stay out. Reports of earlier versions contain no selection, and list only
    // `must` clauses as unselected. For other clauses, a check counts as selected if its section was judged and it has
    // evidence of more than review probes, which every run has.
    const isOwn =
      selection !== undefined ||
      clauseOf(clause).level === "must" ||
      (sections.has(section) && rests.some(({ stage }) => stage !== "review"));
    return isOwn && rests.every(({ name }) => planned.has(name));
  };
  const isJudged = (check: Check, section: string): boolean =>
    isWanted(check, section) &&
    !unselected.includes(check.clause) &&
    (selected.has(check.id) || hasCome(check, section));
  return suites.map((suite) => ({ ...suite, checks: suite.checks.filter((each) => isJudged(each, suite.title)) }));
}
