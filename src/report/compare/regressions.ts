import { sanitizeLine } from "../../base/sanitize.ts";
import type { Outcome, Verdict } from "../model/report.ts";
import type { UnpairedReason, Comparison, FindingIdentity, Regression, FindingResult } from "./comparison.ts";
import { type LoadMetric } from "./comparison.ts";
import { formatTrial } from "../model/trial-id.ts";
import { formatMetricChange } from "./metric-text.ts";
import type { RegressionKind, RegressionRules, SharedKind } from "./regression-rules.ts";

/** What counts as a regression under the rules, in the order of the kinds, of what a comparison found. */
export function regressionsOf(found: Omit<Comparison, "regressions">, rules: RegressionRules): Regression[] {
  const all = [
    ...found.newlyFailing.flatMap((each) => one(brokenKind(each.is.outcome), each, brokenText(each.is))),
    ...skippedOf(found),
    ...found.appeared
      .filter(({ said }) => said.outcome === "fail" || said.outcome === "warning" || said.outcome === "error")
      .flatMap((each) => one("new-check", each, brokenText(each.said))),
    ...found.changedReadings.flatMap((each) => one("reading", each, readingText(each.was, each.is))),
    ...found.changedObservations
      .filter(({ immaterial }) => !immaterial)
      .flatMap((each) => one("observation", each, "another observation than before")),
    ...verdictOf(found.older.verdict, found.newer.verdict),
    ...found.loadFigures.flatMap((figure) => figureOf(figure, rules)),
  ];
  return all.filter(({ kind }) => counts(kind, rules));
}

/** Who counts every skipped check counts those of must clauses too. */
const counts = (kind: RegressionKind, { kinds }: RegressionRules): boolean =>
  kinds.has(kind) || (kind === "skipped-must" && kinds.has("skipped"));

function brokenKind(outcome: Outcome): RegressionKind {
  if (outcome === "warning" || outcome === "note" || outcome === "error") return outcome;
  return "failing";
}

const one = (kind: RegressionKind, finding: FindingIdentity, what: string): Regression[] => [
  { kind, says: `${formatFindingName(finding)}: ${what}`, finding: bare(finding) },
];

const bare = ({ check, clause, instance }: FindingIdentity): Regression["finding"] => ({ check, clause, instance });

/** `SSE-5/name (pro)`. */
export const formatFindingName = ({ check, instance }: Pick<FindingIdentity, "check" | "instance">): string =>
  `${sanitizeLine(check, 120)}${instance === null ? "" : ` (${sanitizeLine(instance, 60)})`}`;

/** What a breach says, on one line. */
export function brokenText({ outcome, expected, actual, reason }: FindingResult): string {
  if (outcome === "error") return `the harness failed: ${sanitizeLine(reason ?? "", 160)}`;
  return `expected ${sanitizeLine(expected ?? "", 160)}; got ${sanitizeLine(actual ?? reason ?? "", 160)}`;
}

export const readingText = (was: FindingResult, is: FindingResult): string =>
  `${sanitizeLine(was.reading ?? "none told", 60)} → ${sanitizeLine(is.reading ?? "none told", 60)}`;

/** Judged before, and not now, for no reason of the selection or of the suite. */
function skippedOf({ newlySkipped, gone }: Pick<Comparison, "newlySkipped" | "gone">): Regression[] {
  const lost = [
    ...newlySkipped.map((each) => ({ name: each, was: each.was, why: skipText(each.is) })),
    ...gone.flatMap((each) => {
      const why = lossOf[each.why];
      return why === null ? [] : [{ name: each, was: each.said, why }];
    }),
  ];
  return lost
    .filter(({ was }) => was.outcome !== "skipped" && was.outcome !== "error")
    .flatMap(({ name, why }) => one(name.level === "must" ? "skipped-must" : "skipped", name, why));
}

/** What was left out on purpose, or is no longer a check, was not lost. */
const lossOf: Readonly<Record<UnpairedReason, string | null>> = {
  check: null,
  unselected: null,
  trial: null,
  unreached: "not reached",
  instance: "not run for it",
  silent: "nothing was said of it",
};

export const skipText = ({ reason }: FindingResult): string =>
  `not exercised: ${sanitizeLine(reason ?? "no reason told", 160)}`;

const order: readonly Verdict[] = ["conformant", "partial", "incomplete", "unreachable", "nonconformant"];

const verdictOf = (was: Verdict, is: Verdict): Regression[] =>
  order.indexOf(is) <= order.indexOf(was)
    ? []
    : [{ kind: "verdict", says: `the verdict was ${was} and is ${is}`, finding: null }];

function figureOf(figure: LoadMetric, { shares }: RegressionRules): Regression[] {
  const { group, was, is, changeShare, doubt } = figure;
  if (doubt !== null) return [];
  const isWorse = group === "counts" ? was !== is : changeShare !== null && worseBy(group, changeShare) > shares[group];
  return isWorse ? [{ kind: group, says: `${formatTrial(figure)}: ${formatMetricChange(figure)}`, finding: null }] : [];
}

/** Of throughput, less is worse. */
const worseBy = (group: SharedKind, changeShare: number): number =>
  group === "throughput" ? -changeShare : changeShare;
