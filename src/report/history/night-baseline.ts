import type { Night, NightFinding } from "./night.ts";
import { findingKey } from "../model/finding-text.ts";
import { isExercised } from "../model/finding.ts";
import type { ReportDocument } from "../model/report.ts";
import { totalsOf } from "../model/verdict.ts";

const lookbackNights = 14;

/** Converts a nightly run to a report without load metrics, so that two nights can be compared like two reports. */
export function nightDocument(night: Night, findings: readonly NightFinding[] = night.findings): ReportDocument {
  const { suite, target, started, finished, verdict, stopped, requests, unselected, pairs } = night;
  return {
    report: {
      format: "agent-hosting-conformance/report/1",
      suite,
      target,
      started,
      finished,
      durationMs: Math.max(0, Date.parse(finished) - Date.parse(started)),
      requests,
      waitedMs: 0,
      verdict,
      ...(stopped === undefined ? {} : { stopped }),
      totals: totalsOf(findings),
      findings,
      ...(pairs === undefined ? {} : { pairs }),
      upcoming: [],
      created: [],
      unselected,
      untestable: [],
    },
    evidence: null,
    load: new Map(),
  };
}

/**
 * Returns a report of earlier findings to compare with tonight's; `null` if tonight or the last 14 nights have none.
 * A skipped or missing check counts as changed only on the second night in a row: a rate limit may skip it once.
 */
export function nightBaseline(history: readonly Night[], tonight: Night): ReportDocument | null {
  const recent = history.slice(-lookbackNights).filter(({ findings }) => findings.length > 0);
  const last = recent.at(-1);
  if (last === undefined || tonight.findings.length === 0) return null;
  const findingOn = createFindingLookup(recent.toReversed());
  const keys = new Set(tonight.findings.map(findingKey));
  const compared = tonight.findings.flatMap(
    (finding) =>
      (finding.outcome === "skipped"
        ? baselineOfSkipped(finding, findingOn)
        : latestJudgedFinding(finding, findingOn)) ?? [],
  );
  // A run that was stopped early did not reach every check. A missing finding therefore counts only in a complete run.
  const vanished = tonight.stopped === undefined ? vanishedFindings(recent.at(-2), findingOn, keys) : [];
  return nightDocument(last, [...compared, ...vanished]);
}

const vanishedFindings = (
  before: Night | undefined,
  findingOn: FindingOnNight,
  tonight: ReadonlySet<string>,
): readonly NightFinding[] =>
  (before?.findings ?? []).filter((finding) => {
    const key = findingKey(finding);
    const earlier = findingOn(2, key);
    const wasExercised = isExercised(finding) && earlier !== undefined && isExercised(earlier);
    return wasExercised && !tonight.has(key) && findingOn(0, key) === undefined;
  });

type FindingOnNight = (nightsBefore: number, key: string) => NightFinding | undefined;

function createFindingLookup(newestFirst: readonly Night[]): FindingOnNight {
  const byNight = new Map<number, ReadonlyMap<string, NightFinding>>();
  return (at, key) => {
    const known =
      byNight.get(at) ?? new Map(newestFirst[at]?.findings.map((finding) => [findingKey(finding), finding]));
    byNight.set(at, known);
    return known.get(key);
  };
}

function latestJudgedFinding(finding: NightFinding, findingOn: FindingOnNight): NightFinding | undefined {
  const key = findingKey(finding);
  let first: NightFinding | undefined;
  for (let at = 0; at < lookbackNights; at += 1) {
    const row = findingOn(at, key);
    first ??= row;
    if (row !== undefined && (isExercised(row) || !isExercised(finding))) return row;
  }
  return first;
}

function baselineOfSkipped(finding: NightFinding, findingOn: FindingOnNight): NightFinding | undefined {
  const key = findingKey(finding);
  const [last, two, three] = [findingOn(0, key), findingOn(1, key), findingOn(2, key)];
  if (last === undefined) return undefined;
  if (isExercised(last)) return finding;
  const isGone = two !== undefined && three !== undefined && isExercised(two) && isExercised(three);
  return isGone ? two : last;
}
