import type { Comparison, Regression } from "../../compare/comparison.ts";
import { compareReports } from "../../compare/compare-reports.ts";
import { findingKey } from "../../compare/find-changes.ts";
import type { RegressionRules } from "../../compare/regression-rules.ts";
import { nightBaseline, documentOf } from "../night-baseline.ts";
import { trialIdText, type Night, type Reported, type ReportedLatencyShift } from "../night.ts";
import { pairsOfNights, type PairsOfNights } from "../pairs-of-nights.ts";
import type { Outcome } from "../../model/report.ts";
import { type OpenFailure, openFailures } from "../open-failures.ts";
import type { TrialId } from "../../model/trial-id.ts";
import { type CountChange, countChangesOf, formatCountChange, isConfirmed } from "./count-changes.ts";
import { type FlakyCheck, flakyChecksOf } from "./flaky.ts";
import {
  latencyGate,
  withConfirmationRuns,
  reportedShiftOf,
  type LatencyShift,
  latencyShifts,
} from "./latency-shifts.ts";

/** The result of comparing one nightly run ("tonight") with the nights before. */
export interface NightJudgement {
  /** The comparison with {@link nightBaseline}; `null` for the first night, and for a night on which nothing could be judged. */
  readonly comparison: Comparison | null;
  /** Findings and counts that became worse tonight. The command fails because of them. */
  readonly regressions: readonly Regression[];
  /** Load that became slower, confirmed by a second run and not reported before. The command fails because of it. */
  readonly slower: readonly ReportedLatencyShift[];
  /**
   * Load that became slower for the same cause as a slow-down that was reported before. The command does not fail
   * because of it.
   */
  readonly alsoSlower: readonly ReportedLatencyShift[];
  readonly faster: readonly ReportedLatencyShift[];
  /** Possible changes that no second run confirmed. They do not fail the command. */
  readonly unconfirmed: readonly string[];
  /** Slow-downs that were reported before and still last. */
  readonly known: readonly ReportedLatencyShift[];
  readonly flaky: readonly FlakyCheck[];
  /**
   * Findings that are broken tonight, whether new or not, each with the first night of its failure. Failures of must clauses come first.
   */
  readonly broken: readonly OpenFailure[];
  /** The pairs of request properties that all nights of the history combined; `null` if no night kept its pairs. */
  readonly pairs: PairsOfNights | null;
}

/** Number of earlier nights that are examined. It is generous, because some nights send no load, and a day may have several runs. */
const lookbackNights = 120;

/** Load that has to be sent again tonight, before its counts or times may count as regressions. */
export function loadsToConfirm(all: readonly Night[], tonight: Night): TrialId[] {
  const history = all.slice(-lookbackNights);
  const counts = countChangesOf(history, tonight).filter(({ isCertain }) => !isCertain);
  const shifts = latencyShifts([...history, tonight], "slower");
  return [...new Map([...counts, ...shifts].map(({ load }) => [trialIdText(load), load])).values()];
}

/**
 * Compares a night with the history. A worse finding is a regression at once. A slow-down must be found twice by {@link latencyShifts}: with the
 * first runs of the night, and with the confirmation runs in their place.
 *
 * @param all oldest first, without tonight
 */
export function judgeNight(all: readonly Night[], tonight: Night, rules: RegressionRules): NightJudgement {
  const history = all.slice(-lookbackNights);
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
      ...counts.filter((change) => !provenCounts.includes(change)).map(formatCountChange),
      ...open.map(({ load, figure }) => `load ${trialIdText(load)}: ${figure} looked slower`),
    ],
    known: openSlowdowns(all),
    flaky: flakyChecksOf([...history, tonight]),
    broken: openFailures([...all, tonight]).toSorted((one, other) => rankOf(one) - rankOf(other)),
    pairs: pairsOfNights([...all, tonight]),
  };
}

const ranks: readonly Outcome[] = ["fail", "warning", "note"];
const rankOf = ({ finding }: OpenFailure): number => ranks.indexOf(finding.outcome);

/**
 * Slow-downs in the first runs of tonight. They are `proven` if the confirmation runs show them too, otherwise `open`.
 */
function slowDowns(
  history: readonly Night[],
  tonight: Night,
): { readonly proven: LatencyShift[]; readonly open: LatencyShift[] } {
  const first = latencyShifts([...history, { ...tonight, second: [] }], "slower");
  const again = new Set(latencyShifts([...history, withConfirmationRuns(tonight)], "slower").map(nameOf));
  const isAgain = (shift: LatencyShift): boolean => again.has(nameOf(shift));
  return { proven: first.filter(isAgain), open: first.filter((shift) => !isAgain(shift)) };
}

const nameOf = ({ load, figure }: LatencyShift): string => `${trialIdText(load)} ${figure}`;

const regressionOf = (change: CountChange): Regression => ({
  kind: "counts",
  says: `${formatCountChange(change)}.`,
  finding: null,
});

/**
 * Whether a shift belongs to a slow-down that was already reported. One cause may slow several loads, and show in each on a different
 * night.
 */
const isReported = ({ sinceMs }: LatencyShift, history: readonly Night[]): boolean =>
  history
    .slice(-latencyGate.sameChangeNights)
    .some(
      ({ started, reported }) =>
        sinceMs <= Date.parse(started) &&
        reported.changes.some(({ direction, isKnown }) => direction === "slower" && !isKnown),
    );

/** The last slow-down of each metric, unless the metric became faster again. */
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

/** The part of a judgement that the history keeps, so that later nights do not report the same changes again. */
export const reportedByNight = ({ regressions, slower, alsoSlower, faster }: NightJudgement): Reported => ({
  regressions: regressions.map(({ says, finding }) => ({
    says,
    check: finding?.check ?? null,
    instance: finding?.instance ?? null,
  })),
  changes: [...slower, ...alsoSlower, ...faster],
});

/** The flaky check that a regression is about; `null` if the check is not flaky. */
export const flakyOf = ({ finding }: Regression, flaky: readonly FlakyCheck[]): FlakyCheck | null =>
  flaky.find((each) => finding !== null && keyOf(each) === keyOf(finding)) ?? null;

const keyOf = ({ check, instance }: { readonly check: string; readonly instance: string | null }): string =>
  findingKey(instance === null ? { check } : { check, instance });
