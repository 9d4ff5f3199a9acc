import { findingKey } from "../model/finding-text.ts";
import { repeatedCheck, sinceOf } from "../model/requirements.ts";
import { countsIn } from "../../spec/requirements.ts";
import type { Outcome, Report, ReportFinding } from "../model/report.ts";
import {
  type UnpairedReason,
  type FindingChange,
  type FindingChanges,
  type UnpairedFinding,
  severityByOutcome,
  type FindingIdentity,
  type FindingResult,
} from "./comparison.ts";
import { isEquivalentText } from "./equivalence.ts";

export type ComparedReport = Pick<Report, "findings" | "suite" | "unselected" | "stopped" | "load" | "pairs">;

type ChangeCategory = Exclude<keyof FindingChanges, "appeared" | "gone">;

export function findChanges(older: ComparedReport, newer: ComparedReport): FindingChanges {
  const { pairs, onlyOlder, onlyNewer } = pairFindings(older.findings, newer.findings);
  const categories = Map.groupBy(pairs, ({ was, is }) => categorizeChange(was, is));
  const changes = (name: ChangeCategory): FindingChange[] =>
    (categories.get(name) ?? []).map(({ was, is }) => ({
      ...findingIdentityOf(is),
      was: findingResultOf(was),
      is: findingResultOf(is),
    }));
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
    appeared: onlyNewer.map((finding) => unpairedFinding(finding, newer, older)),
    gone: onlyOlder.map((finding) => unpairedFinding(finding, older, newer)),
    unchanged: categories.get("unchanged")?.length ?? 0,
  };
}

export function categorizeChange(was: ReportFinding, is: ReportFinding): ChangeCategory {
  const [before, now] = [severityByOutcome[was.outcome], severityByOutcome[is.outcome]];
  if (is.outcome === "skipped") return was.outcome === "skipped" ? "unchanged" : "newlySkipped";
  if (now === null || now > 0) return isBrokenOutcomeWorse(was.outcome, is.outcome) ? "newlyFailing" : "stillFailing";
  if (was.outcome === "skipped") return "noLongerSkipped";
  if (before === null || before > 0) return "fixed";
  if (was.reading !== is.reading) return "changedReadings";
  const isObserved = was.outcome === "observed" || is.outcome === "observed";
  return isObserved && (was.reason !== is.reason || was.outcome !== is.outcome) ? "changedObservations" : "unchanged";
}

function isBrokenOutcomeWorse(was: Outcome, is: Outcome): boolean {
  const [before, now] = [severityByOutcome[was], severityByOutcome[is]];
  if (now === null) return was !== is;
  return before === null || now > before;
}

const isImmaterial = ({ was, is }: FindingChange): boolean =>
  was.outcome === is.outcome && isEquivalentText(was.reason ?? "", is.reason ?? "");

const unpairedFinding = (finding: ReportFinding, here: ComparedReport, there: ComparedReport): UnpairedFinding => ({
  ...findingIdentityOf(finding),
  said: findingResultOf(finding),
  why: unpairedReason(finding, here, there),
});

function unpairedReason(finding: ReportFinding, here: ComparedReport, there: ComparedReport): UnpairedReason {
  if (!countsIn(sinceOf(finding), there.suite.requirements)) return "requirements";
  const why = there.load === undefined ? unpairedReasonInRun(finding, there) : unpairedReasonInLoad(finding, there);
  if (why !== "check" || !isSameSuite(here.suite, there.suite)) return why;
  return onlyRepeatsEarlierCheck(finding, here, there) ? "repeated" : "silent";
}

function onlyRepeatsEarlierCheck(
  { check, instance }: ReportFinding,
  here: ComparedReport,
  there: ComparedReport,
): boolean {
  const earlier = repeatedCheck(check);
  const found = there.findings.find((other) => other.check === earlier && other.instance === instance);
  if (found === undefined) return false;
  return found.outcome !== "skipped" || here.pairs?.seed !== there.pairs?.seed;
}

const isSameSuite = (one: Report["suite"], other: Report["suite"]): boolean =>
  one.version === other.version && one.clauses === other.clauses;

function unpairedReasonInRun(
  { check, clause }: ReportFinding,
  { findings, unselected, stopped }: ComparedReport,
): UnpairedReason {
  if (unselected.includes(clause)) return "unselected";
  if (findings.some((other) => other.check === check)) return "instance";
  // `unselected` lists only `must` clauses. A clause of another level counts as unselected if it has no findings.
  if (unselected.length > 0 && !findings.some((other) => other.clause === clause)) return "unselected";
  return stopped === undefined ? "check" : "unreached";
}

function unpairedReasonInLoad(
  { suite, instance }: ReportFinding,
  { findings, stopped }: ComparedReport,
): UnpairedReason {
  if (findings.some((other) => other.suite === suite && other.instance === instance)) return "check";
  return stopped === undefined ? "trial" : "unreached";
}

export interface PairedFindings {
  readonly pairs: readonly { readonly was: ReportFinding; readonly is: ReportFinding }[];
  readonly onlyOlder: readonly ReportFinding[];
  readonly onlyNewer: readonly ReportFinding[];
}

function pairFindings(older: readonly ReportFinding[], newer: readonly ReportFinding[]): PairedFindings {
  const before = Map.groupBy(older, findingKey);
  const next = new Map<string, number>();
  const pairs: PairedFindings["pairs"][number][] = [];
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

const findingIdentityOf = ({ check, clause, suite, level, instance }: ReportFinding): FindingIdentity => ({
  check,
  clause,
  suite,
  level,
  instance: instance ?? null,
});

const resultFields = ["outcome", "reading", "expected", "actual", "reason", "needs", "evidence"] as const;

function findingResultOf(finding: ReportFinding): FindingResult {
  const result: Partial<Record<keyof FindingResult, unknown>> = {};
  for (const field of resultFields) if (finding[field] !== undefined) result[field] = finding[field];
  return result as unknown as FindingResult;
}
