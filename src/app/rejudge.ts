import { judgedParts } from "./report/assemble.ts";
import { findingRowOf } from "./report/run-report.ts";
import { createdResources } from "./report/created.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { clauseOf } from "../spec/clauses.ts";
import type { Report } from "../report/model/report.ts";
import { type Check, probesOf, type Suite } from "../run/judge/check.ts";
import { judgeAll, type ProbeResults } from "../run/judge/judge.ts";
import type { Messages } from "../run/skip-reason.ts";
import { runEndOf } from "../report/model/verdict.ts";
import { suites } from "../suites/all.ts";
import { packageVersion } from "./version.ts";

/**
 * The report that the suites of this version make of kept evidence. Nothing is sent. What the evidence keeps in words stays in those.
 *
 * @param selected default: what the run had selected, and what has come since on probes that it ran
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

/** The checks that the run had selected, and those that have come since and can be judged by what its probes brought back. */
function suitesOf({ unselected, findings }: Report, { probes }: Evidence): Suite[] {
  const selected = new Set(findings.map(({ check }) => check));
  const sections = new Set(findings.map(({ suite }) => suite));
  const planned = new Set(probes.map(({ probe }) => probe));
  const hasCome = ({ clause, on }: Check, section: string): boolean => {
    const rests = Object.values(probesOf(on));
    // What looks back at everything may do so for others, as may a probe of two sections; of the clauses left out, a report names those of
    // a must alone.
    const isOwn =
      clauseOf(clause).level === "must" || (sections.has(section) && rests.some(({ stage }) => stage !== "review"));
    return isOwn && rests.every(({ name }) => planned.has(name));
  };
  const isJudged = (check: Check, section: string): boolean =>
    !unselected.includes(check.clause) && (selected.has(check.id) || hasCome(check, section));
  return suites.map((suite) => ({ ...suite, checks: suite.checks.filter((each) => isJudged(each, suite.title)) }));
}
