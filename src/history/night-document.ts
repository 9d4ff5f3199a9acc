import { findingKey } from "../compare/pairing.ts";
import type { ReportDocument } from "../report/document.ts";
import type { ReportFinding } from "../report/report.ts";
import { totalsOf } from "../report/verdict.ts";
import type { Night, NightFinding } from "./night.ts";

/** How many nights back the last word on a check is looked for. */
const memoryNights = 14;

/** A night as a report, so that it is compared by the rules by which any two reports are. It holds no figures of load. */
export function documentOf(night: Night, findings: readonly NightFinding[] = night.findings): ReportDocument {
  const { suite, target, started, finished, verdict, stopped, requests, unselected } = night;
  const rows = findings.map(rowOf);
  return {
    report: {
      format: "agent-hosting-conformance/report/1",
      suite,
      target: { ...target, tiers: {} },
      started,
      finished,
      durationMs: Math.max(0, Date.parse(finished) - Date.parse(started)),
      requests,
      waitedMs: 0,
      verdict,
      ...(stopped === null ? {} : { stopped }),
      totals: totalsOf(rows),
      findings: rows,
      created: [],
      unselected,
      untestable: [],
    },
    evidence: null,
    load: new Map(),
  };
}

function rowOf({
  check,
  clause,
  suite,
  level,
  outcome,
  instance,
  reading,
  expected,
  says,
}: NightFinding): ReportFinding {
  const isBroken = outcome === "fail" || outcome === "warning" || outcome === "note";
  return {
    check,
    clause,
    suite,
    level,
    outcome,
    ...(instance === undefined ? {} : { instance }),
    ...(reading === undefined ? {} : { reading }),
    ...(expected === undefined ? {} : { expected }),
    ...(says === undefined ? {} : isBroken ? { actual: says } : { reason: says }),
  };
}

/**
 * What a night is compared with: the last word of the nights before on each of its findings.
 *
 * A check that was not exercised last night, or that last night's selection left out, is compared with the night that has judged it last. One
 * that is not exercised tonight is compared as such only where it was not last night either, and was before: that a window had no room left
 * on one night is no news.
 *
 * @returns `null` of the first night, and of one on which nothing could be judged
 */
export function baselineOf(history: readonly Night[], tonight: Night): ReportDocument | null {
  const recent = history.slice(-memoryNights).filter(({ findings }) => findings.length > 0);
  const last = recent.at(-1);
  if (last === undefined || tonight.findings.length === 0) return null;
  const rowOn = rowsOf(recent.toReversed());
  const keys = new Set(tonight.findings.map(findingKey));
  const compared = tonight.findings.flatMap(
    (finding) => (finding.outcome === "skipped" ? beforeSkipped(finding, rowOn) : lastWord(finding, rowOn)) ?? [],
  );
  // What a run that was stopped did not reach is not lost.
  const gone = tonight.stopped === null ? last.findings.filter((finding) => !keys.has(findingKey(finding))) : [];
  return documentOf(last, [...compared, ...gone]);
}

/** The row of a finding so many nights before tonight, from 0; `undefined` where there is none. */
type RowOn = (nightsBefore: number, key: string) => NightFinding | undefined;

/** Rows by key of a night are made when they are asked for: most findings need those of last night alone. */
function rowsOf(newestFirst: readonly Night[]): RowOn {
  const made = new Map<number, ReadonlyMap<string, NightFinding>>();
  return (at, key) => {
    const known = made.get(at) ?? new Map(newestFirst[at]?.findings.map((finding) => [findingKey(finding), finding]));
    made.set(at, known);
    return known.get(key);
  };
}

function lastWord(finding: NightFinding, rowOn: RowOn): NightFinding | undefined {
  const key = findingKey(finding);
  let first: NightFinding | undefined;
  for (let at = 0; at < memoryNights; at += 1) {
    const row = rowOn(at, key);
    first ??= row;
    if (row !== undefined && (isExercised(row) || !isExercised(finding))) return row;
  }
  return first;
}

function beforeSkipped(finding: NightFinding, rowOn: RowOn): NightFinding | undefined {
  const key = findingKey(finding);
  const [last, two, three] = [rowOn(0, key), rowOn(1, key), rowOn(2, key)];
  if (last === undefined) return undefined;
  if (isExercised(last)) return finding;
  const isNews = two !== undefined && three !== undefined && isExercised(two) && isExercised(three);
  return isNews ? two : last;
}

const isExercised = ({ outcome }: NightFinding): boolean => outcome !== "skipped" && outcome !== "error";
