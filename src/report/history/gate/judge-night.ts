import { outcomesWorstFirst } from "../../model/verdict.ts";
import type { Comparison, Regression } from "../../compare/comparison.ts";
import { compareReports } from "../../compare/compare-reports.ts";
import { findingKey } from "../../model/finding-text.ts";
import type { RegressionRules } from "../../compare/regression-rules.ts";
import { nightBaseline, documentOf } from "../night-baseline.ts";
import { trialIdText, type Night, type ReportedChanges, type ReportedLatencyShift } from "../night.ts";
import { pairsOfNights, type PairsOfNights } from "../pairs-of-nights.ts";
import { type OpenFailure, openFailures, type FlakyCheck, flakyChecksOf } from "../finding-histories.ts";
import type { TrialId } from "../../model/load-results.ts";
import { type CountChange, countChangesOf, formatCountChange, isConfirmed } from "./count-changes.ts";
import {
  latencyGate,
  withConfirmationRuns,
  reportedShiftOf,
  type LatencyShift,
  latencyShifts,
} from "./latency-shifts.ts";

/** The result of comparing one nightly run ("tonight") with earlier nights. */
export interface NightJudgement {
  /** Tonight's findings compared with earlier findings; `null` if tonight or the history has none. */
  readonly comparison: Comparison | null;
  /** Findings and counts that became worse tonight. They fail the command. */
  readonly regressions: readonly Regression[];
  /** Load trials that became slower, confirmed by a second run. They fail the command. */
  readonly slower: readonly ReportedLatencyShift[];
  /** Slower trials that belong to an already reported slow-down. They do not fail the command. */
  readonly alsoSlower: readonly ReportedLatencyShift[];
  readonly faster: readonly ReportedLatencyShift[];
  /** Possible changes that a second run did not confirm. They do not fail the command. */
  readonly unconfirmed: readonly string[];
  readonly known: readonly ReportedLatencyShift[];
  readonly flaky: readonly FlakyCheck[];
  readonly broken: readonly OpenFailure[];
  readonly pairs: PairsOfNights | null;
}

/** Maximum number of earlier nights to compare with. The number is large, because some nights have no load results. */
const lookbackNights = 120;

export function loadsToConfirm(all: readonly Night[], tonight: Night): TrialId[] {
  const history = all.slice(-lookbackNights);
  const counts = countChangesOf(history, tonight).filter(({ isCertain }) => !isCertain);
  const shifts = latencyShifts([...history, tonight], "slower");
  return [...new Map([...counts, ...shifts].map(({ load }) => [trialIdText(load), load])).values()];
}

/** `all`: the earlier nights, oldest first. A slow-down counts only if a second run confirms it. */
export function judgeNight(all: readonly Night[], tonight: Night, rules: RegressionRules): NightJudgement {
  const history = all.slice(-lookbackNights);
  const baseline = nightBaseline(history, tonight);
  const comparison = baseline === null ? null : compareReports(baseline, documentOf(tonight), rules);
  const counts = countChangesOf(history, tonight);
  const provenCounts = counts.filter((change) => change.isCertain || isConfirmed(change, tonight));
  const { proven, open } = findSlowDowns(history, tonight);
  const changes = proven.map((shift) => reportedShiftOf(shift, isPartOfReportedSlowDown(shift, history)));
  return {
    comparison,
    regressions: [...(comparison?.regressions ?? []), ...provenCounts.map(countRegression)],
    slower: changes.filter(({ isKnown }) => !isKnown),
    alsoSlower: changes.filter(({ isKnown }) => isKnown),
    faster: latencyShifts([...history, tonight], "faster").map((shift) => reportedShiftOf(shift, false)),
    unconfirmed: [
      ...counts.filter((change) => !provenCounts.includes(change)).map(formatCountChange),
      ...open.map(({ load, figure }) => `load ${trialIdText(load)}: ${figure} looked slower`),
    ],
    known: openSlowdowns(all),
    flaky: flakyChecksOf([...history, tonight]),
    broken: openFailures([...all, tonight]).toSorted((one, other) => severityRank(one) - severityRank(other)),
    pairs: pairsOfNights([...all, tonight]),
  };
}

const severityRank = ({ finding }: OpenFailure): number => outcomesWorstFirst.indexOf(finding.outcome);

function findSlowDowns(
  history: readonly Night[],
  tonight: Night,
): { readonly proven: LatencyShift[]; readonly open: LatencyShift[] } {
  const first = latencyShifts([...history, { ...tonight, second: [] }], "slower");
  const again = new Set(latencyShifts([...history, withConfirmationRuns(tonight)], "slower").map(shiftKey));
  const isAgain = (shift: LatencyShift): boolean => again.has(shiftKey(shift));
  return { proven: first.filter(isAgain), open: first.filter((shift) => !isAgain(shift)) };
}

const shiftKey = ({ load, figure }: LatencyShift): string => `${trialIdText(load)} ${figure}`;

const countRegression = (change: CountChange): Regression => ({
  kind: "counts",
  says: `${formatCountChange(change)}.`,
  finding: null,
});

const isPartOfReportedSlowDown = ({ sinceMs }: LatencyShift, history: readonly Night[]): boolean =>
  history
    .slice(-latencyGate.sameChangeNights)
    .some(
      ({ started, reported }) =>
        sinceMs <= Date.parse(started) &&
        reported.changes.some(({ direction, isKnown }) => direction === "slower" && !isKnown),
    );

function openSlowdowns(history: readonly Night[]): ReportedLatencyShift[] {
  const last = new Map<string, ReportedLatencyShift>();
  for (const { reported } of history)
    for (const change of reported.changes) {
      const name = `${trialIdText(change)} ${change.figure}`;
      if (change.direction === "slower") last.set(name, change);
      else for (const [key, known] of last) if (trialIdText(known) === trialIdText(change)) last.delete(key);
    }
  return [...last.values()];
}

export const reportedByNight = ({ regressions, slower, alsoSlower, faster }: NightJudgement): ReportedChanges => ({
  regressions: regressions.map(({ says, finding }) => ({
    says,
    check: finding?.check ?? null,
    instance: finding?.instance ?? null,
  })),
  changes: [...slower, ...alsoSlower, ...faster],
});

export const flakyCheckOf = ({ finding }: Regression, flaky: readonly FlakyCheck[]): FlakyCheck | null =>
  flaky.find((each) => finding !== null && findingKey(each) === findingKey(finding)) ?? null;
