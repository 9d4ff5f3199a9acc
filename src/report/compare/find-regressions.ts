import { findingName } from "../model/finding-text.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Outcome } from "../model/finding.ts";
import type { Verdict } from "../model/report.ts";
import type {
  Comparison,
  FindingIdentity,
  FindingResult,
  LoadMetric,
  Regression,
  UnpairedReason,
} from "./comparison.ts";
import { formatTrial } from "../model/load-results.ts";
import { formatMetricChange } from "./load-metrics.ts";
import type { RegressionKind, RegressionRules, MetricRegressionKind } from "./regression-rules.ts";

export function findRegressions(found: Omit<Comparison, "regressions">, rules: RegressionRules): Regression[] {
  const all = [
    ...found.newlyFailing.map((each) =>
      findingRegression(regressionKindOf(each.is.outcome), each, formatFailure(each.is)),
    ),
    ...skipRegressions(found),
    ...found.appeared
      .filter(({ said }) => said.outcome === "fail" || said.outcome === "warning" || said.outcome === "error")
      .map((each) => findingRegression("new-check", each, formatFailure(each.said))),
    ...found.changedReadings.map((each) => findingRegression("reading", each, formatReadings(each.was, each.is))),
    ...found.changedObservations
      .filter(({ immaterial }) => !immaterial)
      .map((each) => findingRegression("observation", each, "another observation than before")),
    ...verdictRegressions(found.older.verdict, found.newer.verdict),
    ...found.loadFigures.flatMap((figure) => metricRegression(figure, rules)),
  ];
  return all.filter(({ kind }) => countsAsRegression(kind, rules));
}

/** Whether a kind of regression counts by the chosen rules. The kind `skipped` includes `skipped-must`. */
const countsAsRegression = (kind: RegressionKind, { kinds }: RegressionRules): boolean =>
  kinds.has(kind) || (kind === "skipped-must" && kinds.has("skipped"));

function regressionKindOf(outcome: Outcome): RegressionKind {
  if (outcome === "warning" || outcome === "note" || outcome === "error") return outcome;
  return "failing";
}

function findingRegression(kind: RegressionKind, finding: FindingIdentity, what: string): Regression {
  const { check, clause, instance } = finding;
  return { kind, says: `${findingName(finding)}: ${what}`, finding: { check, clause, instance } };
}

function formatFailure({ outcome, expected, actual, reason }: FindingResult): string {
  if (outcome === "error") return `the harness failed: ${sanitizeLine(reason ?? "", 160)}`;
  return `expected ${sanitizeLine(expected ?? "", 160)}; got ${sanitizeLine(actual ?? reason ?? "", 160)}`;
}

const formatReadings = (was: FindingResult, is: FindingResult): string =>
  `${sanitizeLine(was.reading ?? "none", 60)} → ${sanitizeLine(is.reading ?? "none", 60)}`;

function skipRegressions({ newlySkipped, gone }: Pick<Comparison, "newlySkipped" | "gone">): Regression[] {
  const missing = [
    ...newlySkipped.map((each) => ({ name: each, was: each.was, why: formatSkip(each.is) })),
    ...gone.flatMap((each) => {
      const why = missingFindingTexts[each.why];
      return why === null ? [] : [{ name: each, was: each.said, why }];
    }),
  ];
  return missing
    .filter(({ was }) => was.outcome !== "skipped" && was.outcome !== "error")
    .map(({ name, why }) => findingRegression(name.level === "must" ? "skipped-must" : "skipped", name, why));
}

/** Texts that say why the newer report lacks a finding. `null`: the missing finding is no regression. */
const missingFindingTexts: Readonly<Record<UnpairedReason, string | null>> = {
  check: null,
  requirements: null,
  unselected: null,
  trial: null,
  repeated: null,
  unreached: "not reached",
  instance: "not run for it",
  silent: "it has no finding",
};

export const formatSkip = ({ reason }: FindingResult): string =>
  `not exercised: ${sanitizeLine(reason ?? "no reason given", 160)}`;

const verdictsBestFirst: readonly Verdict[] = ["conformant", "partial", "incomplete", "unreachable", "nonconformant"];

const verdictRegressions = (was: Verdict, is: Verdict): Regression[] =>
  verdictsBestFirst.indexOf(is) <= verdictsBestFirst.indexOf(was)
    ? []
    : [{ kind: "verdict", says: `the verdict was ${was} and is ${is}`, finding: null }];

function metricRegression(figure: LoadMetric, { tolerances }: RegressionRules): Regression[] {
  const { group, was, is, changeShare, doubt } = figure;
  if (doubt !== null) return [];
  const isWorse =
    group === "counts" ? was !== is : changeShare !== null && worseningShare(group, changeShare) > tolerances[group];
  return isWorse ? [{ kind: group, says: `${formatTrial(figure)}: ${formatMetricChange(figure)}`, finding: null }] : [];
}

const worseningShare = (group: MetricRegressionKind, changeShare: number): number =>
  group === "throughput" ? -changeShare : changeShare;
