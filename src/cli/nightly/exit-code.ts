import type { SavedNight } from "../../app/nightly/save-night.ts";
import { isWorse } from "../../report/history/summary.ts";
import { exitCodeOf } from "../../report/model/verdict.ts";
import { exitCodes } from "../exit-codes.ts";

/** @param onlyRegressions whether what has been broken before, and still is, does not count */
export function nightExitCode({ executed, judgement }: SavedNight, onlyRegressions: boolean): number {
  const { run, load, night } = executed;
  if (run === null) return exitCodes.nothingExercised;
  if (isWorse(judgement)) return exitCodes.broken;
  const findings = [...run.report.findings, ...(load?.report.findings ?? [])];
  const judged = onlyRegressions ? findings.filter(({ outcome }) => outcome !== "fail") : findings;
  const code = exitCodeOf({ findings: judged, unselected: [] }, { strict: false, complete: false });
  if (code !== exitCodes.fine) return code;
  return night.verdict === "incomplete" ? exitCodes.nothingExercised : exitCodes.fine;
}
