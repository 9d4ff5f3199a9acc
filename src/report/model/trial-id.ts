import type { LoadRun, FindingTrial } from "./load-results.ts";
import type { Report, ReportFinding } from "./report.ts";

/** The fields that identify a load trial: scenario, tier and engine. Runs with equal fields send the same load. */
export type TrialId = Pick<LoadRun, "scenario" | "tier" | "engine">;

const tierText = ({ tier }: Pick<TrialId, "tier">): string => tier ?? "no tier";

/** Formats a load trial as `burst, pro, k6`. */
export const formatTrial = (load: TrialId): string => [load.scenario, tierText(load), load.engine].join(", ");

/** Formats a scenario with the tiers and engines that it ran with: `burst (free, k6; pro, k6)`. */
export const formatScenarioTrials = (scenario: string, instances: readonly string[]): string =>
  `${scenario} (${instances.join("; ")})`;

/** The instance of a load finding: tier and engine, such as `pro, k6`. */
export const trialInstance = (load: Pick<TrialId, "tier" | "engine">): string => `${tierText(load)}, ${load.engine}`;

const loadSuitePrefix = "Load: ";

/** The field `suite` of a load finding, such as `Load: burst`. */
export const trialSuite = ({ scenario }: Pick<TrialId, "scenario">): string => `${loadSuitePrefix}${scenario}`;

/** Fills in the field `load` of load findings. Earlier versions wrote scenario, tier and engine only into `suite` and `instance`. */
export function restoreFindingTrials(report: Report): Report {
  if (report.load === undefined) return report;
  return {
    ...report,
    findings: report.findings.map((finding) => {
      const load = finding.load ?? trialFromTexts(finding);
      return load === null ? finding : { ...finding, load };
    }),
  };
}

function trialFromTexts({ suite, instance = "" }: ReportFinding): FindingTrial | null {
  const [tier, engine, ...more] = instance.split(", ");
  if (!suite.startsWith(loadSuitePrefix) || tier === undefined || engine === undefined || more.length > 0) return null;
  return { scenario: suite.slice(loadSuitePrefix.length), tier, engine };
}

/**
 * Returns a sentence that names the first load trial with invalid measurements, and the number of others. Ignores
 * interrupted trials. Returns `null` if there is none.
 */
export function describeInvalidTrials({ load }: Report): string | null {
  const invalid = (load?.runs ?? []).filter(
    ({ validity, stopped }) => validity.invalid !== null && stopped !== "interrupted",
  );
  const [first] = invalid;
  if (first === undefined) return null;
  const others = invalid.length === 1 ? "" : `, and ${invalid.length - 1} more`;
  return `Invalid, and no verdict on the target: ${formatScenarioTrials(first.scenario, [trialInstance(first)])}: ${first.validity.invalid}${others}.`;
}
