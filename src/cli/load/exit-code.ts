import { type FailurePolicy, defaultPolicy } from "../../report/model/failure-policy.ts";
import type { Report } from "../../report/model/report.ts";
import { runExitCode } from "../../report/model/verdict.ts";
import { invalidText } from "../../app/load/invalid-text.ts";
import { exitCodes } from "../exit-codes.ts";

/** The exit code of a load report: as of any run, and 3 where a run was invalid and nothing is broken. */
export function loadExitCode(report: Report, rules: FailurePolicy = defaultPolicy): number {
  const code = runExitCode(report, rules);
  return code === exitCodes.fine && invalidText(report) !== null ? exitCodes.nothingExercised : code;
}
