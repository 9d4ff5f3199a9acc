import { type FormatRules, plainRules } from "../../report/formats/rules.ts";
import { loadInstance, loadOn } from "../../report/load-name.ts";
import type { Report } from "../../report/report.ts";
import { runExitCode } from "../../report/run-exit-code.ts";
import { exitCodes } from "../../cli/exit-codes.ts";

/** The exit code of a load report: as of any run, and 3 where a run was invalid and nothing is broken. */
export function loadExitCode(report: Report, rules: FormatRules = plainRules): number {
  const code = runExitCode(report, rules);
  return code === exitCodes.fine && invalidText(report) !== null ? exitCodes.nothingExercised : code;
}

/** Which runs are no verdict, in one sentence; `null` where all are. A run that was interrupted is what its user wanted. */
export function invalidText({ load }: Report): string | null {
  const invalid = (load?.runs ?? []).filter(
    ({ validity, stopped }) => validity.invalid !== null && stopped !== "interrupted",
  );
  const [first] = invalid;
  if (first === undefined) return null;
  const others = invalid.length === 1 ? "" : `, and ${invalid.length - 1} more`;
  return `Invalid, and no verdict on the target: ${loadOn(first.scenario, [loadInstance(first)])}: ${first.validity.invalid}${others}.`;
}
