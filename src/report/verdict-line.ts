import { counted, firstOf } from "../base/text.ts";
import { duration } from "../base/duration.ts";
import type { Paint } from "../base/paint.ts";
import { harmlessLine } from "../base/harmless.ts";
import type { Report, Verdict } from "./report.ts";
import { clauseOutcomes, unexercised } from "./verdict.ts";

const colours: Readonly<Record<Verdict, "green" | "red" | "yellow">> = {
  conformant: "green",
  nonconformant: "red",
  partial: "yellow",
  incomplete: "yellow",
};

/** The last line of a report: the verdict, what it rests on, and what it cost. */
export function verdictLine(report: Report, paint: Paint): string {
  const { totals, verdict } = report;
  const figures = [
    ...(totals.error > 0 ? [`the harness itself failed at ${counted(totals.error, "check")}`] : []),
    ...(totals.warning > 0 ? [counted(totals.warning, "warning")] : []),
    ...(totals.note > 0 ? [counted(totals.note, "note")] : []),
    ...(totals.observed > 0 ? [`${counted(totals.observed, "observation")} of gaps`] : []),
    `${counted(report.requests, "request")} in ${duration(report.durationMs)}`,
    ...(report.waitedMs >= 1000 ? [`${duration(report.waitedMs)} of it waiting`] : []),
  ];
  const word = paint.bold(paint[colours[verdict]](verdict));
  return `${word}: ${[groundsOf(report), ...figures].join(", ")}`;
}

function groundsOf({ findings, totals, verdict, unselected, stopped = "" }: Report): string {
  const passed = `${counted(totals.pass, "check")} of ${counted(passedClauses(findings), "clause")} passed`;
  const early = `stopped early (${harmlessLine(stopped, 160)})`;
  switch (verdict) {
    case "conformant":
      return passed;
    case "nonconformant": {
      const broken = [...clauseOutcomes(findings)].flatMap(([clause, outcome]) => (outcome === "fail" ? [clause] : []));
      const named = `${counted(broken.length, "must clause")} broken (${firstOf(broken, 5)})`;
      return [named, ...(stopped === "" ? [] : [early]), passed].join(", ");
    }
    case "partial": {
      const left = unexercised(findings, unselected);
      if (totals.pass + totals.observed + totals.warning + totals.note === 0) return "nothing was exercised";
      return `nothing broken, but ${counted(left.length, "must clause")} not exercised (${unselected.length > 0 ? `${unselected.length} not selected` : firstOf(left, 3)}), ${passed}`;
    }
    case "incomplete":
      return `${early}, nothing broken by then, ${passed}`;
  }
}

const passedClauses = (findings: Report["findings"]): number =>
  new Set(findings.filter(({ outcome }) => outcome === "pass").map(({ clause }) => clause)).size;
