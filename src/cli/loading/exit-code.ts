import { type FormatRules, plainRules } from "../../report/formats/rules.ts";
import type { Report } from "../../report/report.ts";
import { runExitCode } from "../../report/verdict.ts";
import { invalidText } from "../../app/load/invalid-text.ts";
import { exitCodes } from "../exit-codes.ts";

/** The exit code of a load report: as of any run, and 3 where a run was invalid and nothing is broken. */
export function loadExitCode(report: Report, rules: FormatRules = plainRules): number {
  const code = runExitCode(report, rules);
  return code === exitCodes.fine && invalidText(report) !== null ? exitCodes.nothingExercised : code;
}
