import { outcomesWorstFirst } from "../../model/verdict.ts";
import type { Comparison, Regression } from "../../compare/comparison.ts";
import { compareReports } from "../../compare/compare-reports.ts";
import { findingKey } from "../../model/finding-text.ts";
import type { RegressionRules } from "../../compare/regression-rules.ts";
import { nightDocument, nightBaseline } from "../night-baseline.ts";
import { pairCoverageByNight, type PairCoverageByNight } from "../pair-coverage.ts";
import { type FlakyCheck, flakyChecksOf, type OpenFailure, findOpenFailures } from "../finding-history.ts";
import {
  countsCaveat,
  type Night,
  type NightLoad,
  type ReportedChanges,
  type ReportedLatencyShift,
  trialIdText,
} from "../night.ts";
import type { TrialId } from "../../model/load-results.ts";
import {
  latencyGate,
  type LatencyShift,
  latencyShifts,
  reportedShiftOf,
  replaceLoadBySecondRun,
} from "./latency-shifts.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";

interface CountChange {
  readonly load: TrialId;
  readonly count: "failed" | "unanswered" | "admitted" | "refused";
  readonly was: number;
  readonly is: number;
  /** `false` if a lost response or the end of a rate-limit window could explain the change. */
  readonly isCertain: boolean;
}

const maxEarlierRuns = 14;
/** Minimum number of earlier runs, all without a failed (or unanswered) request, to report such a request tonight. */
const minCleanRuns = 3;
/**
 * Minimum number of earlier runs to report a changed number of admitted (or refused) requests. They must have
 * sent as many requests as tonight's run, and must all have had the same number admitted (or refused).
 */
const minConstantRuns = 10;

function countChangesOf(history: readonly Night[], tonight: Night): CountChange[] {
  return tonight.load.flatMap((run) => countChangesOfRun(run, earlierRunsOf(history, run)));
}

const earlierRunsOf = (history: readonly Night[], name: TrialId): NightLoad[] =>
  history
    .flatMap(({ load }) =>
      load.filter((each) => trialIdText(each) === trialIdText(name) && countsCaveat(each) === null),
    )
    .slice(-maxEarlierRuns);

function countChangesOfRun(run: NightLoad, before: readonly NightLoad[]): CountChange[] {
  if (countsCaveat(run) !== null) return [];
  const { scenario, tier, engine, requests } = run;
  const load = { scenario, tier, engine };
  const newFailures = (["failed", "unanswered"] as const).flatMap((count): CountChange[] => {
    const isClean = before.length >= minCleanRuns && before.every((each) => each.requests[count] === 0);
    if (!isClean || requests[count] === 0) return [];
    return [{ load, count, was: 0, is: requests[count], isCertain: count === "failed" }];
  });
  // If there are new failures, ignores `admitted` and `refused`, because failed requests change these counts, too.
  return newFailures.length > 0
    ? newFailures
    : (["admitted", "refused"] as const).flatMap((count) => constantCountChange(run, before, count));
}

function constantCountChange(
  run: NightLoad,
  before: readonly NightLoad[],
  count: "admitted" | "refused",
): CountChange[] {
  const { scenario, tier, engine, requests } = run;
  const alike = before.filter((each) => each.requests.sent === requests.sent);
  const was = alike.at(-1)?.requests[count];
  const isConstant = alike.length >= minConstantRuns && alike.every((each) => each.requests[count] === was);
  if (!isConstant || was === undefined || was === requests[count]) return [];
  return [{ load: { scenario, tier, engine }, count, was, is: requests[count], isCertain: false }];
}

function isConfirmed({ load, count, was, is }: CountChange, { second }: Night): boolean {
  return second.some((each) => {
    if (trialIdText(each) !== trialIdText(load) || countsCaveat(each) !== null) return false;
    return Math.sign(each.requests[count] - was) === Math.sign(is - was);
  });
}

const countTexts = {
  failed: "responses failed (neither admitted nor refused)",
  unanswered: "requests got no response",
  admitted: "requests were admitted",
  refused: "requests were refused",
} as const;

const formatCountChange = ({ load, count, was, is }: CountChange): string =>
  `load ${sanitizeLine(trialIdText(load), 80)}: ${is} ${countTexts[count]}, and ${was === 0 ? "none" : was} on every night before`;

/** The result of comparing one nightly run ("tonight") with earlier nights. */
export interface NightJudgement {
  /** Tonight's findings compared with earlier ones; `null` if tonight or the last 14 nights have none. */
  readonly comparison: Comparison | null;
  /** Findings that became worse tonight, and load counts that changed. They fail the command. */
  readonly regressions: readonly Regression[];
  /** Load trials that became slower, confirmed by a second run. They fail the command. */
  readonly slower: readonly ReportedLatencyShift[];
  /** Slow-downs that began before another one was reported, and are part of it. They do not fail the command. */
  readonly alsoSlower: readonly ReportedLatencyShift[];
  readonly faster: readonly ReportedLatencyShift[];
  /** Possible changes that a second run did not confirm. They do not fail the command. */
  readonly unconfirmed: readonly string[];
  /** Slow-downs that earlier nights reported and that still last: no later night reported the trial as faster. */
  readonly known: readonly ReportedLatencyShift[];
  readonly flaky: readonly FlakyCheck[];
  readonly broken: readonly OpenFailure[];
  readonly pairs: PairCoverageByNight | null;
}

/** Maximum number of earlier nights to compare with. The number is large, because some nights have no load results. */
const lookbackNights = 120;

export function trialsToConfirm(earlier: readonly Night[], tonight: Night): TrialId[] {
  const history = earlier.slice(-lookbackNights);
  const counts = countChangesOf(history, tonight).filter(({ isCertain }) => !isCertain);
  const shifts = latencyShifts([...history, tonight], "slower");
  return [...new Map([...counts, ...shifts].map(({ load }) => [trialIdText(load), load])).values()];
}

/** Compares tonight with `earlier` nights (oldest first). A second run must confirm slow-downs and uncertain counts. */
export function judgeNight(earlier: readonly Night[], tonight: Night, rules: RegressionRules): NightJudgement {
  const history = earlier.slice(-lookbackNights);
  const baseline = nightBaseline(history, tonight);
  const comparison = baseline === null ? null : compareReports(baseline, nightDocument(tonight), rules);
  const counts = countChangesOf(history, tonight);
  const provenCounts = counts.filter((change) => change.isCertain || isConfirmed(change, tonight));
  const { proven, unproven } = findSlowDowns(history, tonight);
  const changes = proven.map((shift) => reportedShiftOf(shift, isPartOfReportedSlowDown(shift, history)));
  return {
    comparison,
    regressions: [...(comparison?.regressions ?? []), ...provenCounts.map(countRegression)],
    slower: changes.filter(({ isKnown }) => !isKnown),
    alsoSlower: changes.filter(({ isKnown }) => isKnown),
    faster: latencyShifts([...history, tonight], "faster").map((shift) => reportedShiftOf(shift, false)),
    unconfirmed: [
      ...counts.filter((change) => !provenCounts.includes(change)).map(formatCountChange),
      ...unproven.map(({ load, figure }) => `load ${trialIdText(load)}: ${figure} looked slower`),
    ],
    known: openSlowdowns(earlier),
    flaky: flakyChecksOf([...history, tonight]),
    broken: findOpenFailures([...earlier, tonight]).toSorted((one, other) => severityRank(one) - severityRank(other)),
    pairs: pairCoverageByNight([...earlier, tonight]),
  };
}

const severityRank = ({ finding }: OpenFailure): number => outcomesWorstFirst.indexOf(finding.outcome);

function findSlowDowns(
  history: readonly Night[],
  tonight: Night,
): { readonly proven: LatencyShift[]; readonly unproven: LatencyShift[] } {
  const first = latencyShifts([...history, { ...tonight, second: [] }], "slower");
  const second = new Set(latencyShifts([...history, replaceLoadBySecondRun(tonight)], "slower").map(shiftKey));
  const isProven = (shift: LatencyShift): boolean => second.has(shiftKey(shift));
  return { proven: first.filter(isProven), unproven: first.filter((shift) => !isProven(shift)) };
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

export const changesToReport = ({ regressions, slower, alsoSlower, faster }: NightJudgement): ReportedChanges => ({
  regressions: regressions.map(({ says, finding }) => ({
    says,
    check: finding?.check ?? null,
    instance: finding?.instance ?? null,
  })),
  changes: [...slower, ...alsoSlower, ...faster],
});

export const flakyCheckOf = ({ finding }: Regression, flaky: readonly FlakyCheck[]): FlakyCheck | null =>
  flaky.find((each) => finding !== null && findingKey(each) === findingKey(finding)) ?? null;
