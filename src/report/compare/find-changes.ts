import { findingKey } from "../model/finding-text.ts";
import { checkIdWithoutSet, sinceOf } from "../model/requirements.ts";
import { withoutUndefined } from "../../base/json.ts";
import { countsIn } from "../../spec/clause.ts";
import type { ReportFinding } from "../model/finding.ts";
import type { Report } from "../model/report.ts";
import {
  type FindingChange,
  type FindingChanges,
  type FindingIdentity,
  type FindingResult,
  severityByOutcome,
  type UnpairedFinding,
  type UnpairedReason,
} from "./comparison.ts";

/** Patterns for dates, durations and loopback ports, which differ between two runs against the same server. */
const volatilePatterns: readonly RegExp[] = [
  /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\d+(?:[.,]\d+)*(?= ?(?:µs|ms|s|seconds?|milliseconds?|min|minutes?|h|hours?)\b)/g,
  /(?<=\b(?:127\.0\.0\.1|localhost|\[::1\]):)\d+/g,
];

/** Matches a duration that the target sent without a unit: the number in `1.2 without a unit`. */
const unitlessDuration = /\d+(?:\.\d+)?(?:e[+-]?\d+)?(?= without a unit)/g;
/**
 * A duration without a unit may be in seconds or milliseconds. If two durations differ by more than this factor, their
 * units are taken to differ.
 */
const maxUnitlessFactor = 100;

export const windowKinds = ["rolling", "fixed", "anchored", "pushed", "weighted", "bucket"] as const;
const windowKindPattern = `(?:${windowKinds.join("|")})`;
const windowKindListPattern = new RegExp(`\\b${windowKindPattern}\\b(?:(?:, | or )${windowKindPattern}\\b)*`, "g");

/** Whether two texts differ only in times, ports or window kinds. `fixed or rolling` matches `fixed`, not `bucket`. */
export function isEquivalentText(was: string, is: string): boolean {
  if (replaceVolatile(was) !== replaceVolatile(is)) return false;
  if (!haveSameUnits(was, is)) return false;
  const [before, after] = [windowKindListsIn(was), windowKindListsIn(is)];
  return before.every((open, at) => !open.isDisjointFrom(after[at] ?? open));
}

const replaceVolatile = (text: string): string =>
  [...volatilePatterns, unitlessDuration, windowKindListPattern].reduce(
    (shorter, pattern) => shorter.replace(pattern, "…"),
    text,
  );

function haveSameUnits(was: string, is: string): boolean {
  const numbersIn = (text: string): number[] => (text.match(unitlessDuration) ?? []).map(Number);
  const after = numbersIn(is);
  return numbersIn(was).every((number, at) => {
    const other = after[at] ?? number;
    return number === 0 || other === 0 || Math.max(number / other, other / number) <= maxUnitlessFactor;
  });
}

const windowKindListsIn = (text: string): Set<string>[] =>
  [...text.matchAll(windowKindListPattern)].map(([list]) => new Set(list.split(/, | or /)));

type ComparedReport = Pick<Report, "findings" | "suite" | "unselected" | "stopped" | "load" | "pairs">;

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
  if (now === null || now > 0) {
    const isWorse = now === null ? was.outcome !== is.outcome : before === null || now > before;
    return isWorse ? "newlyFailing" : "stillFailing";
  }
  if (was.outcome === "skipped") return "noLongerSkipped";
  if (before === null || before > 0) return "fixed";
  if (was.reading !== is.reading) return "changedReadings";
  const isObserved = was.outcome === "observed" || is.outcome === "observed";
  return isObserved && (was.reason !== is.reason || was.outcome !== is.outcome) ? "changedObservations" : "unchanged";
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
  const earlier = checkIdWithoutSet(check);
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
  // `unselected` lists only `must` clauses. Any other clause without findings counts as unselected, too.
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

function pairFindings(older: readonly ReportFinding[], newer: readonly ReportFinding[]) {
  const before = Map.groupBy(older, findingKey);
  const next = new Map<string, number>();
  const pairs: { readonly was: ReportFinding; readonly is: ReportFinding }[] = [];
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

function findingResultOf(finding: ReportFinding): FindingResult {
  const { outcome, reading, expected, actual, reason, needs, evidence } = finding;
  return withoutUndefined({ outcome, reading, expected, actual, reason, needs, evidence });
}
