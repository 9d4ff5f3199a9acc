import type { ReportDocument, Report } from "../model/report.ts";
import type { Change, Comparison, FindingChanges, ComparedSide, SuiteChange } from "./comparison.ts";
import { findChanges } from "./find-changes.ts";
import { compareLoad } from "./load-metrics.ts";
import { comparabilityNotes } from "./comparability-notes.ts";
import { compareStreaming } from "./streaming-changes.ts";
import { findRegressions } from "./find-regressions.ts";
import type { RegressionRules } from "./regression-rules.ts";

/**
 * Compares two reports, both of runs or both of load. Adds a note if they are about different targets, or were judged by different
 * suites.
 */
export function compareReports(
  { report: older }: Pick<ReportDocument, "report">,
  { report: newer }: Pick<ReportDocument, "report">,
  rules: RegressionRules,
): Comparison {
  const changes = findChanges(older, newer);
  const load = compareLoad(older, newer);
  const changedSuite = suiteChange(older, newer, changes);
  const found = {
    format: "agent-hosting-conformance/comparison/1",
    older: sideOf(older),
    newer: sideOf(newer),
    notes: comparabilityNotes(older, newer, { ...changes, ...load, changedSuite }),
    changedSuite,
    ...changes,
    ...load,
    streaming: compareStreaming(older, newer),
  } as const;
  return { ...found, regressions: findRegressions(found, rules) };
}

/** Whether the reports have a finding or a load metric in common. Without any, the absence of regressions means nothing. */
export const hasCommonFindings = ({ unchanged, loadFigures, ...lists }: Comparison): boolean =>
  unchanged > 0 || loadFigures.length > 0 || pairedListNames.some((name) => lists[name].length > 0);

const pairedListNames = [
  "newlyFailing",
  "fixed",
  "newlySkipped",
  "noLongerSkipped",
  "stillFailing",
  "changedReadings",
  "changedObservations",
] as const satisfies readonly (keyof FindingChanges)[];

const sideOf = ({ target, suite, started, verdict, stopped, totals, load }: Report): ComparedSide => ({
  kind: load === undefined ? "run" : "load",
  target: { name: target.name, baseUrl: target.baseUrl, fingerprint: target.fingerprint },
  suite,
  started,
  verdict,
  stopped: stopped ?? null,
  totals,
});

function suiteChange(older: Report, newer: Report, { appeared, gone }: FindingChanges): SuiteChange | null {
  const changeOf = (name: keyof Report["suite"]): Change | null => {
    const [was, is] = [older.suite[name], newer.suite[name]];
    return was === is ? null : { was, is };
  };
  const [version, clauses, requirements] = [changeOf("version"), changeOf("clauses"), changeOf("requirements")];
  if (version === null && clauses === null && requirements === null) return null;
  return { version, clauses, requirements, came: checksOutsideSuite(appeared), went: checksOutsideSuite(gone) };
}

const checksOutsideSuite = (unpaired: FindingChanges["gone"]): string[] => [
  ...new Set(unpaired.filter(({ why }) => why === "check").map(({ check }) => check)),
];
