import { formatCount, joinFirst } from "../../base/text.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Comparison, Side } from "./comparison.ts";
import { isBroken } from "./sections.ts";

/** `2 regressions (SSE-5, SSE-6), 1 newly failing, 3 fixed, 300 unchanged`. */
export const summaryText = (found: Comparison): string => `${verdictWords(found)}, ${countsText(found)}`;

/** `1 newly failing, 3 fixed, 300 unchanged`. */
export function countsText(found: Comparison): string {
  const figures: readonly (readonly [number, string])[] = [
    [found.newlyFailing.length, "newly failing"],
    [found.appeared.filter(isBroken).length, "failing and not in the older"],
    [found.newlySkipped.length, "newly skipped"],
    [found.fixed.length, "fixed"],
    [found.noLongerSkipped.length, "no longer skipped"],
    [found.changedReadings.length, "with another reading"],
    [found.changedObservations.filter(({ immaterial }) => !immaterial).length, "observed otherwise"],
    [found.stillFailing.length, "still failing"],
    [found.appeared.filter((each) => !isBroken(each)).length, "only in the newer"],
    [found.gone.length, "only in the older"],
  ];
  const parts = figures.flatMap(([count, words]) => (count === 0 ? [] : [`${count} ${words}`]));
  return [...parts, `${sameCount(found)} unchanged`].join(", ");
}

export function verdictWords({ regressions }: Comparison): string {
  if (regressions.length === 0) return "no regression";
  const named = [...new Set(regressions.map(({ finding, kind }) => finding?.clause ?? kind))];
  return `${formatCount(regressions.length, "regression")} (${joinFirst(
    named.map((name) => sanitizeLine(name, 60)),
    5,
  )})`;
}

/** What is told in other words of times has not changed. */
const sameCount = ({ unchanged, changedObservations }: Comparison): number =>
  unchanged + changedObservations.filter(({ immaterial }) => immaterial).length;

/** `Acme, 2030-01-01 02:00 UTC, nonconformant, suite 0.1.0`. */
export function sideText({ target, started, verdict, suite, kind }: Side): string {
  const address = target.baseUrl === "" ? "" : ` at ${sanitizeLine(target.baseUrl, 120)}`;
  const when = started.replace(/T(\d\d:\d\d).*$/, " $1 UTC");
  return `${sanitizeLine(target.name, 80)}${address}, ${kind === "load" ? "load, " : ""}${when}, ${verdict}, suite ${sanitizeLine(suite.version, 40)}`;
}
