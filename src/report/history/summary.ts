import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import type { SuiteChange } from "../compare/comparison.ts";
import { formatFindingName } from "../compare/regressions.ts";
import { byLoad, changesText, loadText } from "./change-text.ts";
import type { FlakyCheck } from "./gate/flaky.ts";
import { flakyNights } from "./gate/flaky.ts";
import { flakyOf, type NightJudgement } from "./gate/judge-night.ts";
import { type Night, countsCaveat, timesCaveat } from "./night.ts";

/** One thing to say of a night, in a sentence. `regression` and `slower` make the command fail. */
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

/** What a night brought that the nights before did not, regressions first. */
export function nightLines(judgement: NightJudgement, night: Night): NightLine[] {
  const { comparison, regressions, slower, alsoSlower, faster, unconfirmed, known, flaky } = judgement;
  const line =
    (kind: NightLine["kind"]) =>
    (says: string): NightLine => ({ kind, says });
  return [
    ...regressions.map((each) => {
      const often = flakyOf(each, flaky);
      return line("regression")(often === null ? each.says : `${each.says} [flaky: ${flipsText(often)}]`);
    }),
    ...byLoad(slower).map((each) => line("slower")(`${changesText(each)}; a second run confirmed it`)),
    ...byLoad(alsoSlower).map((each) => line("known")(`${changesText(each)}: part of a slow-down that was reported`)),
    ...byLoad(known).map((each) => line("known")(`${changesText(each)}: reported before, and still so`)),
    ...unconfirmed.map((each) => line("unconfirmed")(`${each}; no second run showed the same`)),
    ...byLoad(faster).map((each) => line("faster")(changesText(each))),
    ...(comparison?.fixed ?? []).map((each) => line("fixed")(`${formatFindingName(each)}: ${each.was.outcome} before`)),
    ...flaky.map((each) => line("flaky")(`${formatFindingName(each)}: ${flipsText(each)}`)),
    ...invalidLines(night).map(line("left out")),
    ...suiteLines(comparison?.changedSuite ?? null).map(line("other suite")),
  ];
}

export const flipsText = ({ flips, nights, broken }: FlakyCheck): string =>
  `changed sides ${formatCount(flips, "time")} in the last ${flakyNights} nights, broken on ${broken} of ${nights}`;

/** Where the suites themselves changed, a difference may come from them and not from the target. */
function suiteLines(change: SuiteChange | null): string[] {
  if (change === null) return [];
  const parts = [
    ...(change.version === null ? [] : [`version ${change.version.was} → ${change.version.is}`]),
    ...(change.clauses === null ? [] : [`clauses ${change.clauses.was} → ${change.clauses.is}`]),
  ];
  return [`${sanitizeLine(parts.join(", "), 160)} since the night before: a difference may be the suite's`];
}

function invalidLines({ load }: Night): string[] {
  return load.flatMap((run) => {
    const why = timesCaveat(run);
    if (why === null) return [];
    const what = countsCaveat(run) === null ? "its times" : "its counts and times";
    return [`load ${loadText(run)}: ${what} are not compared: ${sanitizeLine(why, 200)}`];
  });
}

/** `2 regressions, 1 load slower`, `nothing became worse`. */
export function gateText({ regressions, slower, comparison }: NightJudgement, night: Night): string {
  const loads = byLoad(slower).length;
  const parts = [
    ...(regressions.length === 0 ? [] : [formatCount(regressions.length, "regression")]),
    ...(loads === 0 ? [] : [`${formatCount(loads, "load")} slower`]),
  ];
  if (parts.length > 0) return parts.join(", ");
  if (night.findings.length === 0) return "nothing could be judged";
  return comparison === null ? "the first night: nothing to compare with yet" : "nothing became worse";
}

export const isWorse = ({ regressions, slower }: NightJudgement): boolean =>
  regressions.length > 0 || slower.length > 0;
