import { harmlessLine } from "../base/harmless.ts";
import type { Outcome, Verdict } from "../report/report.ts";
import type { Absence, Comparison, FindingName, Regression, Said } from "./comparison.ts";
import { type LoadFigure } from "./comparison.ts";
import { loadName } from "../report/load-name.ts";
import { figureChange } from "./figure-text.ts";
import type { RegressionKind, RegressionRules, SharedKind } from "./rules.ts";

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

const one = (kind: RegressionKind, finding: FindingName, what: string): Regression[] => [
  { kind, says: `${nameText(finding)}: ${what}`, finding: bare(finding) },
];

const bare = ({ check, clause, instance }: FindingName): Regression["finding"] => ({ check, clause, instance });

/** `SSE-5/name (pro)`. */
export const nameText = ({ check, instance }: Pick<FindingName, "check" | "instance">): string =>
  `${harmlessLine(check, 120)}${instance === null ? "" : ` (${harmlessLine(instance, 60)})`}`;

/** What a breach says, on one line. */
export function brokenText({ outcome, expected, actual, reason }: Said): string {
  if (outcome === "error") return `the harness failed: ${harmlessLine(reason ?? "", 160)}`;
  return `expected ${harmlessLine(expected ?? "", 160)}; got ${harmlessLine(actual ?? reason ?? "", 160)}`;
}

export const readingText = (was: Said, is: Said): string =>
  `${harmlessLine(was.reading ?? "none told", 60)} → ${harmlessLine(is.reading ?? "none told", 60)}`;

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
const lossOf: Readonly<Record<Absence, string | null>> = {
  check: null,
  unselected: null,
  trial: null,
  unreached: "not reached",
  instance: "not run for it",
  silent: "nothing was said of it",
};

export const skipText = ({ reason }: Said): string => `not exercised: ${harmlessLine(reason ?? "no reason told", 160)}`;

const order: readonly Verdict[] = ["conformant", "partial", "incomplete", "unreachable", "nonconformant"];

const verdictOf = (was: Verdict, is: Verdict): Regression[] =>
  order.indexOf(is) <= order.indexOf(was)
    ? []
    : [{ kind: "verdict", says: `the verdict was ${was} and is ${is}`, finding: null }];

function figureOf(figure: LoadFigure, { shares }: RegressionRules): Regression[] {
  const { group, was, is, changeShare, doubt } = figure;
  if (doubt !== null) return [];
  const isWorse = group === "counts" ? was !== is : changeShare !== null && worseBy(group, changeShare) > shares[group];
  return isWorse ? [{ kind: group, says: `${loadName(figure)}: ${figureChange(figure)}`, finding: null }] : [];
}

/** Of throughput, less is worse. */
const worseBy = (group: SharedKind, changeShare: number): number =>
  group === "throughput" ? -changeShare : changeShare;
