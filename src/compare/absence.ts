import type { Report, ReportFinding } from "../report/report.ts";
import type { Absence } from "./comparison.ts";

/** What of a report tells why a finding is not in it. */
export type Occasion = Pick<Report, "findings" | "suite" | "unselected" | "stopped" | "load">;

/** Why a report (`there`) does not have a finding that the other (`here`) has, as far as the two show it. */
export function absenceOf(finding: ReportFinding, here: Occasion, there: Occasion): Absence {
  const why = there.load === undefined ? absenceFromRun(finding, there) : absenceFromLoad(finding, there);
  return why === "check" && isSameSuite(here.suite, there.suite) ? "silent" : why;
}

const isSameSuite = (one: Report["suite"], other: Report["suite"]): boolean =>
  one.version === other.version && one.clauses === other.clauses;

function absenceFromRun({ check, clause }: ReportFinding, { findings, unselected, stopped }: Occasion): Absence {
  if (unselected.includes(clause)) return "unselected";
  if (findings.some((other) => other.check === check)) return "instance";
  // `unselected` names must clauses alone: of the others, that none of their checks has a row tells it.
  if (unselected.length > 0 && !findings.some((other) => other.clause === clause)) return "unselected";
  return stopped === undefined ? "check" : "unreached";
}

function absenceFromLoad({ suite, instance }: ReportFinding, { findings, stopped }: Occasion): Absence {
  if (findings.some((other) => other.suite === suite && other.instance === instance)) return "check";
  return stopped === undefined ? "trial" : "unreached";
}
