import { findingKey } from "../compare/find-changes.ts";
import type { ReportDocument } from "../model/report.ts";
import { totalsOf } from "../model/verdict.ts";
import type { Night, NightFinding } from "./night.ts";

/** How many nights back the latest judgement of a check is looked for. */
const memoryNights = 14;

/** A night as a report, so that it is compared by the rules by which any two reports are. It holds no figures of load. */
export function documentOf(night: Night, findings: readonly NightFinding[] = night.findings): ReportDocument {
  const { suite, target, started, finished, verdict, stopped, requests, unselected } = night;
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
      created: [],
      unselected,
      untestable: [],
    },
    evidence: null,
    load: new Map(),
  };
}

/**
 * What a night is compared with: of each of its findings, the latest row of the nights before that judged it.
 *
 * A check that was not exercised last night, or that last night's selection left out, is compared with the night that has judged it last. One
 * that is not exercised tonight is compared with a night that exercised it only if last night did not either, and the two nights before did:
 * that a window had no room left on a single night is not worth reporting.
 *
 * @returns `null` of the first night, and of one on which nothing could be judged
 */
export function nightBaseline(history: readonly Night[], tonight: Night): ReportDocument | null {
  const recent = history.slice(-memoryNights).filter(({ findings }) => findings.length > 0);
  const last = recent.at(-1);
  if (last === undefined || tonight.findings.length === 0) return null;
  const rowOn = rowsOf(recent.toReversed());
  const keys = new Set(tonight.findings.map(findingKey));
  const compared = tonight.findings.flatMap(
    (finding) => (finding.outcome === "skipped" ? beforeSkipped(finding, rowOn) : lastWord(finding, rowOn)) ?? [],
  );
  // Checks that a stopped run did not reach are not reported as gone.
  const gone = tonight.stopped === undefined ? last.findings.filter((finding) => !keys.has(findingKey(finding))) : [];
  return documentOf(last, [...compared, ...gone]);
}

/** The row of a finding on an earlier night, where 0 is the last one; `undefined` where there is none. */
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
