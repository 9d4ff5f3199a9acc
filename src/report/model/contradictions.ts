import { isDeepStrictEqual } from "node:util";

import { provenLimits } from "./proven-limits.ts";
import { profileResultsOf } from "./profiles.ts";
import { sinceOf } from "./requirements.ts";
import { countsIn } from "../../spec/requirements.ts";
import { type Report, outcomes } from "./report.ts";
import { hasInvalidLoad, runEndOf, totalsOf, reportVerdict } from "./verdict.ts";

/** The parts of a report, or of a night in the history, that must be consistent. */
type ConsistentParts = Pick<Report, "totals" | "verdict" | "unselected" | "stopped"> & {
  readonly findings: readonly Pick<Report["findings"][number], "clause" | "level" | "outcome">[];
};

/**
 * Returns how totals or verdict of a report do not follow from its findings; `null` if they do.
 * @param isLoadInvalid whether a load run of the report is invalid
 */
export function contradictionIn(judged: ConsistentParts, isLoadInvalid = false): string | null {
  const counted = totalsOf(judged.findings);
  for (const outcome of outcomes)
    if (judged.totals[outcome] !== counted[outcome])
      return `its totals say ${outcome}: ${judged.totals[outcome]}, and its findings have ${counted[outcome]}`;
  const { verdict, findings, unselected } = judged;
  const follows = reportVerdict({ findings, end: runEndOf(judged), unselected, hasInvalidLoad: isLoadInvalid });
  if (verdict === "unreachable" && counted.fail > 0)
    return `its verdict is unreachable, and its findings have ${counted.fail} of a broken clause`;
  return verdict === follows ? null : `its verdict is ${verdict}, and from its findings follows ${follows}`;
}

/** Like {@link contradictionIn}, for a whole report. Also finds checks that are wrongly listed as upcoming. */
export function contradictionInReport(report: Report): string | null {
  const { requirements } = report.suite;
  const hidden = report.upcoming.find((finding) => countsIn(sinceOf(finding), requirements));
  if (hidden !== undefined) return `it calls ${hidden.check} upcoming, which requirement set ${requirements} has`;
  const contradiction = contradictionIn(report, hasInvalidLoad(report.load));
  if (contradiction !== null) return contradiction;
  if (report.limits !== undefined && !isDeepStrictEqual(report.limits, provenLimits(report.findings)))
    return "what it says about rate limits does not follow from its findings";
  if (report.profiles === undefined) return null;
  const follows = profileResultsOf(report);
  const wrong = report.profiles.find((each, at) => !isDeepStrictEqual(each, follows[at]));
  if (wrong !== undefined || report.profiles.length !== follows.length)
    return `its verdict for the profile ${wrong?.profile ?? "after the last"} does not follow from its findings`;
  return null;
}
