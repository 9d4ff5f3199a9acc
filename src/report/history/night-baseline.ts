import { findingKey } from "../compare/find-changes.ts";
import { isExercised, type ReportDocument } from "../model/report.ts";
import { totalsOf } from "../model/verdict.ts";
import type { Night, NightFinding } from "./night.ts";

/** How many nights back to search for the latest result of a check. */
const lookbackNights = 14;

/** Turns a night into a report without load metrics, so that two nights are compared like any two reports. */
export function documentOf(night: Night, findings: readonly NightFinding[] = night.findings): ReportDocument {
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
 * Returns the report that a night is compared with. Each finding of the night is compared with the latest earlier finding that judged the
 * same check.
 *
 * A check that is skipped or missing counts as lost only on the second such night, and only if the two nights before exercised the check.
 * So a single night with an exhausted rate limit is not reported.
 *
 * @returns `null` for the first night, and for a night on which nothing could be judged
 */
export function nightBaseline(history: readonly Night[], tonight: Night): ReportDocument | null {
  const recent = history.slice(-lookbackNights).filter(({ findings }) => findings.length > 0);
  const last = recent.at(-1);
  if (last === undefined || tonight.findings.length === 0) return null;
  const rowOn = rowsOf(recent.toReversed());
  const keys = new Set(tonight.findings.map(findingKey));
  const compared = tonight.findings.flatMap(
    (finding) =>
      (finding.outcome === "skipped" ? rowBeforeSkip(finding, rowOn) : latestJudgedRow(finding, rowOn)) ?? [],
  );
  // A stopped run does not reach every check, so no check counts as missing.
  const gone = tonight.stopped === undefined ? rowsBeforeGap(recent.at(-2), rowOn, keys) : [];
  return documentOf(last, [...compared, ...gone]);
}

/** Findings of checks that are missing tonight and last night, and that the two nights before exercised. */
const rowsBeforeGap = (
  before: Night | undefined,
  rowOn: RowOn,
  tonight: ReadonlySet<string>,
): readonly NightFinding[] =>
  (before?.findings ?? []).filter((finding) => {
    const key = findingKey(finding);
    const earlier = rowOn(2, key);
    const isLost = isExercised(finding) && earlier !== undefined && isExercised(earlier);
    return isLost && !tonight.has(key) && rowOn(0, key) === undefined;
  });

/** Looks up a finding of an earlier night by its key. `nightsBefore` is 0 for the last night before tonight. */
type RowOn = (nightsBefore: number, key: string) => NightFinding | undefined;

/**
 * Indexes the findings of a night only when one of them is looked up, because most look-ups need only the last night.
 */
function rowsOf(newestFirst: readonly Night[]): RowOn {
  const byNight = new Map<number, ReadonlyMap<string, NightFinding>>();
  return (at, key) => {
    const known =
      byNight.get(at) ?? new Map(newestFirst[at]?.findings.map((finding) => [findingKey(finding), finding]));
    byNight.set(at, known);
    return known.get(key);
  };
}

function latestJudgedRow(finding: NightFinding, rowOn: RowOn): NightFinding | undefined {
  const key = findingKey(finding);
  let first: NightFinding | undefined;
  for (let at = 0; at < lookbackNights; at += 1) {
    const row = rowOn(at, key);
    first ??= row;
    if (row !== undefined && (isExercised(row) || !isExercised(finding))) return row;
  }
  return first;
}

function rowBeforeSkip(finding: NightFinding, rowOn: RowOn): NightFinding | undefined {
  const key = findingKey(finding);
  const [last, two, three] = [rowOn(0, key), rowOn(1, key), rowOn(2, key)];
  if (last === undefined) return undefined;
  if (isExercised(last)) return finding;
  const isGone = two !== undefined && three !== undefined && isExercised(two) && isExercised(three);
  return isGone ? two : last;
}
