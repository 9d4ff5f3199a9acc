import { formatNumber } from "../../../base/numbers.ts";
import { formatCount } from "../../../base/text.ts";
import { lineChart, type VerticalLine, type ChartPoint, type Series } from "../../html/svg/line-chart.ts";
import { type Html, html } from "../../html/markup.ts";
import type { Night } from "../night.ts";
import { dateText, dayAt, nightsAxis } from "./days.ts";

/** Share of the exercised checks of a night that hold, in percent; `null` where none was judged. Observations of gaps neither hold nor break, and are left out. */
export function passRate({ totals: { pass, fail, warning, note } }: Night): number | null {
  const judged = pass + fail + warning + note;
  return judged === 0 ? null : (100 * pass) / judged;
}

/** With more marks than this the line could not be seen. */
const mostMoments = 4;

/** The pass rate night by night, with the nights that found a regression. */
export function rateChart(nights: readonly Night[]): Html {
  const points = nights.flatMap((night): (ChartPoint & { readonly night: Night })[] => {
    const y = passRate(night);
    return y === null ? [] : [{ x: dayAt(Date.parse(night.started)), y, night }];
  });
  const last = points.at(-1);
  if (last === undefined) return html``;
  const worse = points.filter(({ night }) => night.reported.regressions.length > 0);
  const silent = nights.length - points.length;
  const lowest = Math.min(...points.map(({ y }) => y));
  return lineChart({
    title: "Pass rate",
    says: `Share of the exercised checks that hold: ${percent(last.y)} on ${dateText(last.night.started)}, at least ${percent(lowest)} over ${formatCount(points.length, "night")}.${silent > 0 ? ` On ${formatCount(silent, "night")} nothing could be judged.` : ""}`,
    x: nightsAxis,
    y: {
      label: "%",
      format: (value) => percent(value).replace(" %", ""),
      scale: lowest === 100 ? "from zero" : "fitted",
    },
    series: [
      { name: "pass rate", tone: "first", shape: "line", points },
      ...(worse.length === 0
        ? []
        : [{ name: "nights with a regression", tone: "bad", shape: "crosses", points: worse } as const]),
    ],
    moments: worse.length > mostMoments ? [] : worse.map(momentOf),
    table: {
      head: ["night", "pass rate", "passed", "failed", "regressions"],
      rows: points
        .toReversed()
        .map(({ y, night }) => [
          dateText(night.started),
          percent(y),
          night.totals.pass,
          night.totals.fail,
          night.reported.regressions.length,
        ]),
    },
  });
}

/** How many findings were broken, and how many were not exercised, night by night. */
export function countsChart(nights: readonly Night[]): Html {
  const line = (name: string, tone: "bad" | "third" | "quiet", of: (totals: Night["totals"]) => number): Series => ({
    name,
    tone,
    shape: "line",
    points: nights.map(({ started, totals }) => ({ x: dayAt(Date.parse(started)), y: of(totals) })),
  });
  const last = nights.at(-1)?.totals;
  if (last === undefined) return html``;
  return lineChart({
    title: "Broken and not exercised",
    says: `On the last night ${last.fail} failed, ${last.warning + last.note} were warnings or notes, and ${last.skipped + last.error} were not exercised.`,
    x: nightsAxis,
    y: { label: "findings", format: formatNumber },
    series: [
      line("failed", "bad", ({ fail }) => fail),
      line("warnings and notes", "third", ({ warning, note }) => warning + note),
      line("not exercised", "quiet", ({ skipped, error }) => skipped + error),
    ],
    table: {
      head: ["night", "failed", "warnings and notes", "not exercised"],
      rows: nights
        .toReversed()
        .map(({ started, totals: { fail, warning, note, skipped, error } }) => [
          dateText(started),
          fail,
          warning + note,
          skipped + error,
        ]),
    },
  });
}

const momentOf = ({ x, night }: { readonly x: number; readonly night: Night }): VerticalLine => {
  const [first] = night.reported.regressions;
  return { name: first?.check ?? "regression", x, tone: "bad" };
};

const percent = (value: number): string => `${value === 100 ? "100" : value.toFixed(1)} %`;
