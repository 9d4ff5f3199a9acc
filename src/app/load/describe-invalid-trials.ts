import { trialInstance, formatScenarioTrials } from "../../report/model/trial-id.ts";
import type { Report } from "../../report/model/report.ts";

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
