import type { LoadRun, FindingTrial } from "./load-results.ts";
import type { Report, ReportFinding } from "./report.ts";

/** Which load it is: a scenario on a tier by an engine. Two runs of the same name sent the same load. */
export type TrialId = Pick<LoadRun, "scenario" | "tier" | "engine">;

const tierText = ({ tier }: Pick<TrialId, "tier">): string => tier ?? "no tier";

/** `burst, pro, k6`. */
export const formatTrial = (load: TrialId): string => [load.scenario, tierText(load), load.engine].join(", ");

/** `burst (pro, k6)`; of several tiers or engines `burst (free, k6; pro, k6)`. */
export const formatScenarioTrials = (scenario: string, instances: readonly string[]): string =>
  `${scenario} (${instances.join("; ")})`;

/** `pro, k6`: what a row of load has for an instance. */
export const trialInstance = (load: Pick<TrialId, "tier" | "engine">): string => `${tierText(load)}, ${load.engine}`;

const suiteMark = "Load: ";

/** `Load: burst`: what a row of load has for a suite. */
export const trialSuite = ({ scenario }: Pick<TrialId, "scenario">): string => `${suiteMark}${scenario}`;

/** The report with `load` on each row of load: versions that did not keep it said it in the texts of suite and instance alone. */
export function withFindingTrials(report: Report): Report {
  if (report.load === undefined) return report;
  return {
    ...report,
    findings: report.findings.map((finding) => {
      const load = finding.load ?? loadInTexts(finding);
      return load === null ? finding : { ...finding, load };
    }),
  };
}

function loadInTexts({ suite, instance = "" }: ReportFinding): FindingTrial | null {
  const [tier, engine, ...more] = instance.split(", ");
  if (!suite.startsWith(suiteMark) || tier === undefined || engine === undefined || more.length > 0) return null;
  return { scenario: suite.slice(suiteMark.length), tier, engine };
}
