import type { Comparison, Regression } from "../../compare/comparison.ts";
import { compareReports } from "../../compare/compare-reports.ts";
import { findingKey } from "../../compare/find-changes.ts";
import type { RegressionRules } from "../../compare/regression-rules.ts";
import { nightBaseline, documentOf } from "../night-baseline.ts";
import { type LoadName, trialKey, type Night, type Reported, type ReportedLatencyShift } from "../night.ts";
import { type CountChange, countChangesOf, countText, isConfirmed } from "./count-changes.ts";
import { type FlakyCheck, flakyChecksOf } from "./flaky.ts";
import {
  latencyGate,
  withConfirmationRuns,
  reportedShiftOf,
  type LatencyShift,
  latencyShifts,
} from "./latency-shifts.ts";

/** The result of comparing a night with the nights before. */
export interface NightJudgement {
  /** With the latest judged rows of the nights before, as {@link nightBaseline} gives them; `null` of the first night, and of one on which nothing could be judged. */
  readonly comparison: Comparison | null;
  /** Findings and counts that became worse tonight. They make the command fail. */
  readonly regressions: readonly Regression[];
  /** Load that became slower, confirmed by a second run and not reported before. Makes the command fail. */
  readonly slower: readonly ReportedLatencyShift[];
  /** Load that became slower with a slow-down that was reported before. Does not make it fail. */
  readonly alsoSlower: readonly ReportedLatencyShift[];
  readonly faster: readonly ReportedLatencyShift[];
  /** What looked like a change, and no second run confirmed. Does not make it fail. */
  readonly unconfirmed: readonly string[];
  /** Slow-downs that were reported before and still stand. */
  readonly known: readonly ReportedLatencyShift[];
  readonly flaky: readonly FlakyCheck[];
}

/** No test looks further back than this, even where some nights lack a load, or several runs were made in a day. */
const memoryNights = 120;

/** Load that has to be sent a second time tonight, before its counts or times may count as regressions. */
export function loadsToConfirm(all: readonly Night[], tonight: Night): LoadName[] {
  const history = all.slice(-memoryNights);
  const counts = countChangesOf(history, tonight).filter(({ isCertain }) => !isCertain);
  const shifts = latencyShifts([...history, tonight], "slower");
  return [...new Map([...counts, ...shifts].map(({ load }) => [trialKey(load), load])).values()];
}

/**
 * Compares a night with the history. Findings and exact counts are regressions at once; times only where {@link latencyShifts} says so of the night's first
 * runs, and of its second runs in their place.
 *
 * @param all oldest first, without tonight
 */
export function judgeNight(all: readonly Night[], tonight: Night, rules: RegressionRules): NightJudgement {
  const history = all.slice(-memoryNights);
  const baseline = nightBaseline(history, tonight);
  const comparison = baseline === null ? null : compareReports(baseline, documentOf(tonight), rules);
  const counts = countChangesOf(history, tonight);
  const provenCounts = counts.filter((change) => change.isCertain || isConfirmed(change, tonight));
  const { proven, open } = slowDowns(history, tonight);
  const changes = proven.map((shift) => reportedShiftOf(shift, isReported(shift, history)));
  return {
    comparison,
    regressions: [...(comparison?.regressions ?? []), ...provenCounts.map(regressionOf)],
    slower: changes.filter(({ isKnown }) => !isKnown),
    alsoSlower: changes.filter(({ isKnown }) => isKnown),
    faster: latencyShifts([...history, tonight], "faster").map((shift) => reportedShiftOf(shift, false)),
    unconfirmed: [
      ...counts.filter((change) => !provenCounts.includes(change)).map(countText),
      ...open.map(({ load, figure }) => `load ${trialKey(load)}: ${figure} looked slower`),
    ],
    known: standing(all),
    flaky: flakyChecksOf([...history, tonight]),
  };
}

/** Slow-downs that the first runs of tonight show: `proven` where its second runs show them as well, otherwise `open`. */
function slowDowns(
  history: readonly Night[],
  tonight: Night,
): { readonly proven: LatencyShift[]; readonly open: LatencyShift[] } {
  const first = latencyShifts([...history, { ...tonight, second: [] }], "slower");
  const again = new Set(latencyShifts([...history, withConfirmationRuns(tonight)], "slower").map(nameOf));
  const isAgain = (shift: LatencyShift): boolean => again.has(nameOf(shift));
  return { proven: first.filter(isAgain), open: first.filter((shift) => !isAgain(shift)) };
}

const nameOf = ({ load, figure }: LatencyShift): string => `${trialKey(load)} ${figure}`;

const regressionOf = (change: CountChange): Regression => ({
  kind: "counts",
  says: `${countText(change)}.`,
  finding: null,
});

/** A slow-down comes to several loads at once, and shows on each a few nights sooner or later. */
const isReported = ({ sinceMs }: LatencyShift, history: readonly Night[]): boolean =>
  history
    .slice(-latencyGate.sameChangeNights)
    .some(
      ({ started, reported }) =>
        sinceMs <= Date.parse(started) &&
        reported.changes.some(({ direction, isKnown }) => direction === "slower" && !isKnown),
    );

/** The last slow-down of each figure, where it did not become faster after it. */
function standing(history: readonly Night[]): ReportedLatencyShift[] {
  const last = new Map<string, ReportedLatencyShift>();
  for (const { reported } of history)
    for (const change of reported.changes) {
      const name = `${trialKey(change)} ${change.figure}`;
      if (change.direction === "slower") last.set(name, change);
      else for (const [key, known] of last) if (trialKey(known) === trialKey(change)) last.delete(key);
    }
  return [...last.values()];
}

/** What the entry of the night keeps of a judgement, so that the next nights do not report it again. */
export const reportedByNight = ({ regressions, slower, alsoSlower, faster }: NightJudgement): Reported => ({
  regressions: regressions.map(({ says, finding }) => ({
    says,
    check: finding?.check ?? null,
    instance: finding?.instance ?? null,
  })),
  changes: [...slower, ...alsoSlower, ...faster],
});

/** Whether a regression is of a check that is flaky anyway. */
export const flakyOf = ({ finding }: Regression, flaky: readonly FlakyCheck[]): FlakyCheck | null =>
  flaky.find((each) => finding !== null && keyOf(each) === keyOf(finding)) ?? null;

const keyOf = ({ check, instance }: { readonly check: string; readonly instance: string | null }): string =>
  findingKey(instance === null ? { check } : { check, instance });
