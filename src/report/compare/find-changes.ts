import type { Outcome, Report, ReportFinding } from "../model/report.ts";
import {
  type UnpairedReason,
  type FindingChange,
  type FindingChanges,
  type UnpairedFinding,
  severities,
  type FindingIdentity,
  type FindingResult,
} from "./comparison.ts";
import { isEquivalentText } from "./equivalence.ts";

/** What of a report tells why a finding is not in it. */
export type ComparedReport = Pick<Report, "findings" | "suite" | "unselected" | "stopped" | "load">;

/** What became of a finding that both sides have. */
type Class = Exclude<keyof FindingChanges, "appeared" | "gone">;

/** Sorts the findings of two reports into what became of them. */
export function findChanges(older: ComparedReport, newer: ComparedReport): FindingChanges {
  const { pairs, onlyOlder, onlyNewer } = pairFindings(older.findings, newer.findings);
  const classes = Map.groupBy(pairs, ({ was, is }) => categorizeChange(was, is));
  const changes = (name: Class): FindingChange[] =>
    (classes.get(name) ?? []).map(({ was, is }) => ({ ...nameOf(is), was: saidOf(was), is: saidOf(is) }));
  return {
    newlyFailing: changes("newlyFailing"),
    fixed: changes("fixed"),
    newlySkipped: changes("newlySkipped"),
    noLongerSkipped: changes("noLongerSkipped"),
    stillFailing: changes("stillFailing"),
    changedReadings: changes("changedReadings"),
    changedObservations: changes("changedObservations").map((change) => ({
      ...change,
      immaterial: isImmaterial(change),
    })),
    appeared: onlyNewer.map((finding) => loneOf(finding, newer, older)),
    gone: onlyOlder.map((finding) => loneOf(finding, older, newer)),
    unchanged: classes.get("unchanged")?.length ?? 0,
  };
}

/** The class of a pair: by its outcomes, and where they are alike by what was said. */
export function categorizeChange(was: ReportFinding, is: ReportFinding): Class {
  const [before, now] = [severities[was.outcome], severities[is.outcome]];
  if (is.outcome === "skipped") return was.outcome === "skipped" ? "unchanged" : "newlySkipped";
  if (now === null || now > 0) return isWorse(was.outcome, is.outcome) ? "newlyFailing" : "stillFailing";
  if (was.outcome === "skipped") return "noLongerSkipped";
  if (before === null || before > 0) return "fixed";
  if (was.reading !== is.reading) return "changedReadings";
  const isObserved = was.outcome === "observed" || is.outcome === "observed";
  return isObserved && (was.reason !== is.reason || was.outcome !== is.outcome) ? "changedObservations" : "unchanged";
}

/** What was not judged before is worse as soon as it is broken; a failure of the harness is worse than any word of its own. */
function isWorse(was: Outcome, is: Outcome): boolean {
  const [before, now] = [severities[was], severities[is]];
  if (now === null) return was !== is;
  return before === null || now > before;
}

const isImmaterial = ({ was, is }: FindingChange): boolean =>
  was.outcome === is.outcome && isEquivalentText(was.reason ?? "", is.reason ?? "");

const loneOf = (finding: ReportFinding, here: ComparedReport, there: ComparedReport): UnpairedFinding => ({
  ...nameOf(finding),
  said: saidOf(finding),
  why: absenceOf(finding, here, there),
});

/** Why a report (`there`) does not have a finding that the other (`here`) has, as far as the two show it. */
function absenceOf(finding: ReportFinding, here: ComparedReport, there: ComparedReport): UnpairedReason {
  const why = there.load === undefined ? absenceFromRun(finding, there) : absenceFromLoad(finding, there);
  return why === "check" && isSameSuite(here.suite, there.suite) ? "silent" : why;
}

const isSameSuite = (one: Report["suite"], other: Report["suite"]): boolean =>
  one.version === other.version && one.clauses === other.clauses;

function absenceFromRun(
  { check, clause }: ReportFinding,
  { findings, unselected, stopped }: ComparedReport,
): UnpairedReason {
  if (unselected.includes(clause)) return "unselected";
  if (findings.some((other) => other.check === check)) return "instance";
  // `unselected` names must clauses alone: of the others, that none of their checks has a row tells it.
  if (unselected.length > 0 && !findings.some((other) => other.clause === clause)) return "unselected";
  return stopped === undefined ? "check" : "unreached";
}

function absenceFromLoad({ suite, instance }: ReportFinding, { findings, stopped }: ComparedReport): UnpairedReason {
  if (findings.some((other) => other.suite === suite && other.instance === instance)) return "check";
  return stopped === undefined ? "trial" : "unreached";
}

/** What tells a finding from every other of its report: the check, and the instance that it speaks of. */
export const findingKey = ({ check, instance }: Pick<ReportFinding, "check" | "instance">): string =>
  JSON.stringify([check, instance ?? null]);

export interface Pairing {
  readonly pairs: readonly { readonly was: ReportFinding; readonly is: ReportFinding }[];
  readonly onlyOlder: readonly ReportFinding[];
  readonly onlyNewer: readonly ReportFinding[];
}

/** Puts findings of the same key together, in the order of the newer report; of several with one key, the first with the first. */
function pairFindings(older: readonly ReportFinding[], newer: readonly ReportFinding[]): Pairing {
  const before = Map.groupBy(older, findingKey);
  const next = new Map<string, number>();
  const pairs: Pairing["pairs"][number][] = [];
  const onlyNewer: ReportFinding[] = [];
  const paired = new Set<ReportFinding>();
  for (const is of newer) {
    const key = findingKey(is);
    const at = next.get(key) ?? 0;
    next.set(key, at + 1);
    const was = before.get(key)?.[at];
    if (was === undefined) onlyNewer.push(is);
    else {
      pairs.push({ was, is });
      paired.add(was);
    }
  }
  return { pairs, onlyOlder: older.filter((finding) => !paired.has(finding)), onlyNewer };
}

const nameOf = ({ check, clause, suite, level, instance }: ReportFinding): FindingIdentity => ({
  check,
  clause,
  suite,
  level,
  instance: instance ?? null,
});

/** Fields of a row that are what was said, and not which finding it is. */
const saidFields = ["outcome", "reading", "expected", "actual", "reason", "needs", "evidence"] as const;

function saidOf(finding: ReportFinding): FindingResult {
  const said: Partial<Record<keyof FindingResult, unknown>> = {};
  for (const field of saidFields) if (finding[field] !== undefined) said[field] = finding[field];
  return said as unknown as FindingResult;
}
