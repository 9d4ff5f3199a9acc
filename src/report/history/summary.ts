import { groupsBy } from "../../base/lists.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatNumber } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import type { SuiteChange } from "../compare/comparison.ts";
import { findingName } from "../model/finding-text.ts";
import type { PairCoverageByNight } from "./pair-coverage.ts";
import { type FlakyCheck, flakinessWindowNights, type OpenFailure } from "./finding-history.ts";
import { flakyCheckOf, type NightJudgement } from "./gate/judge-night.ts";
import { countsCaveat, type Night, type ReportedLatencyShift, timesCaveat, trialIdText } from "./night.ts";
import type { TrialId } from "../model/load-results.ts";
import { dayOf } from "../../base/duration.ts";

/** A line of the night's summary. A line of the kind `regression` or `slower` fails `conformance nightly`. */
export interface NightLine {
  readonly kind:
    | "regression"
    | "slower"
    | "known"
    | "unconfirmed"
    | "faster"
    | "fixed"
    | "flaky"
    | "left out"
    | "other suite";
  readonly says: string;
}

export function nightLines(judgement: NightJudgement, night: Night): NightLine[] {
  const { comparison, regressions, slower, alsoSlower, faster, unconfirmed, known, flaky } = judgement;
  const line =
    (kind: NightLine["kind"]) =>
    (says: string): NightLine => ({ kind, says });
  return [
    ...regressions.map((each) => {
      const flakyCheck = flakyCheckOf(each, flaky);
      return line("regression")(flakyCheck === null ? each.says : `${each.says} [flaky: ${formatFlips(flakyCheck)}]`);
    }),
    ...groupByTrial(slower).map((each) => line("slower")(`${formatShifts(each)}; a second run confirmed it`)),
    ...groupByTrial(alsoSlower).map((each) =>
      line("known")(`${formatShifts(each)}: part of a slow-down that was reported before`),
    ),
    ...groupByTrial(known).map((each) => line("known")(`${formatShifts(each)}: reported before, and it lasts`)),
    ...unconfirmed.map((each) => line("unconfirmed")(`${each}; no second run confirmed it`)),
    ...groupByTrial(faster).map((each) => line("faster")(formatShifts(each))),
    ...(comparison?.fixed ?? []).map((each) => line("fixed")(`${findingName(each)}: ${each.was.outcome} before`)),
    ...flaky.map((each) => line("flaky")(`${findingName(each)}: ${formatFlips(each)}; ${baselineProposal(each)}`)),
    ...invalidLoadLines(night).map(line("left out")),
    ...suiteChangeLines(comparison?.changedSuite ?? null).map(line("other suite")),
  ];
}

const baselineProposal = ({ check, instance }: FlakyCheck): string => {
  const entry = { check, ...(instance === null ? {} : { instance }), flaky: true, reason: "…" };
  return `a baseline accepts both outcomes with ${JSON.stringify(entry)}`;
};

const formatFlips = ({ flips, nights, broken }: FlakyCheck): string =>
  `changed ${formatCount(flips, "time")} in the last ${flakinessWindowNights} nights, broken on ${broken} of ${nights}`;

function suiteChangeLines(change: SuiteChange | null): string[] {
  if (change === null) return [];
  const parts = [
    ...(change.version === null ? [] : [`version ${change.version.was} → ${change.version.is}`]),
    ...(change.clauses === null ? [] : [`clauses ${change.clauses.was} → ${change.clauses.is}`]),
  ];
  return [`${sanitizeLine(parts.join(", "), 160)} since the night before: a difference may be the suite's`];
}

function invalidLoadLines({ load }: Night): string[] {
  return load.flatMap((run) => {
    const why = timesCaveat(run);
    if (why === null) return [];
    const what = countsCaveat(run) === null ? "its times" : "its counts and times";
    return [`load ${formatTrialId(run)}: ${what} are not compared: ${sanitizeLine(why, 200)}`];
  });
}

/** Formats the numbers of regressions and slower loads, such as `2 regressions, 1 load slower`; empty for none. */
export function formatRegressionCounts(regressions: number, slower: readonly ReportedLatencyShift[]): string {
  const loads = groupByTrial(slower).length;
  return [
    ...(regressions === 0 ? [] : [formatCount(regressions, "regression")]),
    ...(loads === 0 ? [] : [`${formatCount(loads, "load")} slower`]),
  ].join(", ");
}

function formatGateResult({ regressions, slower, comparison }: NightJudgement, night: Night): string {
  const worse = formatRegressionCounts(regressions.length, slower);
  if (worse !== "") return worse;
  if (night.findings.length === 0) return "nothing could be judged";
  return comparison === null ? "the first night: nothing to compare with yet" : "nothing became worse";
}

/**
 * Returns the status of a night. `bad`: a must clause is broken, or something became worse. `unsure`: the run judged
 * nothing or stopped early.
 */
export function nightStatus(judgement: NightJudgement, night: Night): "good" | "bad" | "unsure" {
  if (hasNewRegression(judgement) || night.verdict === "nonconformant") return "bad";
  return night.findings.length === 0 || night.verdict === "incomplete" || night.verdict === "unreachable"
    ? "unsure"
    : "good";
}

/** Formats a night's verdict and failures, such as `nonconformant: INV-10 since 2030-02-05; 1 regression`. */
export function formatNightVerdict(judgement: NightJudgement, night: Night): string {
  const failed = judgement.broken.filter(({ finding }) => finding.outcome === "fail");
  // Puts the oldest failures first, so that each clause gets the date of its oldest failure.
  const bySince = failed.toSorted((one, other) => one.since.localeCompare(other.since));
  const broken = groupsBy(bySince, ({ finding }) => finding.clause).map(([first]) =>
    sanitizeLine(`${first.finding.clause} ${formatSince(first, night)}`, 80),
  );
  const names = broken.slice(0, maxNamedClauses);
  const more = broken.length > maxNamedClauses ? [`and ${broken.length - maxNamedClauses} more`] : [];
  const result = formatGateResult(judgement, night);
  return `${night.verdict}${names.length === 0 ? "" : `: ${[...names, ...more].join(", ")}`}; ${result}`;
}

const maxNamedClauses = 5;

function formatSince({ since, isOlder }: OpenFailure, night: Night): string {
  const first = since === night.started ? "tonight" : dayOf(since);
  return `since ${first}${isOlder ? " or earlier" : ""}`;
}

export const brokenFindingLines = (judgement: NightJudgement, night: Night): string[] =>
  judgement.broken
    .filter(({ finding }) => finding.outcome === "fail")
    .map(
      (each) =>
        `${findingName(each.finding)}, ${formatSince(each, night)}: ${sanitizeLine(each.finding.actual ?? "", 200)}`,
    );

/** Formats numbers of covered property pairs: `423 on the last night (seed 7), 612 of 2,355 in 9 nights`. */
export function formatPairs({ nights, seen, total }: PairCoverageByNight): string {
  const last = nights.at(-1);
  const seed = last === undefined || last.seed === null ? "" : ` (seed ${last.seed})`;
  const union = `${formatNumber(seen)} of ${formatNumber(total)} in ${formatCount(nights.length, "night")}`;
  return `${formatNumber(last?.seen ?? 0)} on the last night${seed}, ${union}`;
}

export const hasNewRegression = ({ regressions, slower }: NightJudgement): boolean =>
  regressions.length > 0 || slower.length > 0;

/** Formats the scenario, tier and engine of a load as `burst pro autocannon`. */
export const formatTrialId = (load: TrialId): string => sanitizeLine(trialIdText(load), 80);

/** Formats milliseconds as `12.3 ms`, `0.53 ms` or `1,240 ms`. */
export const formatMs = (ms: number): string =>
  `${ms.toLocaleString("en", { maximumFractionDigits: ms < 10 ? 2 : ms < 100 ? 1 : 0 })} ms`;

export function formatShare(was: number, is: number): string {
  const percent = Math.round((is / was - 1) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${Math.abs(percent)} %`;
}

const formatMetricShift = ({ figure, wasMs, isMs }: ReportedLatencyShift): string =>
  `${figure} ${formatMs(wasMs)} → ${formatMs(isMs)} (${formatShare(wasMs, isMs)})`;

/** Groups latency changes by load trial, because one slow-down shows in several metrics of a trial. */
export const groupByTrial = (
  changes: readonly ReportedLatencyShift[],
): [ReportedLatencyShift, ...ReportedLatencyShift[]][] => groupsBy(changes, trialIdText);

export function formatShifts([first, ...rest]: readonly [ReportedLatencyShift, ...ReportedLatencyShift[]]): string {
  const others = rest.map((each) => `, ${formatMetricShift(each)}`);
  const since = [first, ...rest].map((each) => each.since).toSorted()[0] ?? first.since;
  return `load ${formatTrialId(first)}: ${formatMetricShift(first)}${others.join("")}, since the night of ${dayOf(since)}`;
}
