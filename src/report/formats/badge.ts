import { makeBadge } from "badge-maker";

import type { ReportDocument, Report, Verdict } from "../model/report.ts";
import { formatCount } from "../../base/text.ts";
import { clauseOutcomes, unexercisedMusts } from "../model/verdict.ts";

const colours = {
  conformant: "brightgreen",
  nonconformant: "red",
  partial: "yellow",
  incomplete: "lightgrey",
  unreachable: "lightgrey",
} as const satisfies Record<Verdict, string>;

/** What both kinds of badge show: the verdict, and the figures that it rests on. No text of the target is in it. */
interface Badge {
  readonly label: string;
  readonly message: string;
  readonly color: string;
}

function badgeOf(report: Report): Badge {
  const isUnmet = report.findings.some(({ outcome, level }) => outcome === "fail" && level === "load");
  return {
    label: report.load === undefined ? "conformance" : "conformance under load",
    message: `${report.verdict}, ${figureOf(report)}`,
    color: isUnmet ? colours.nonconformant : colours[report.verdict],
  };
}

function figureOf({ verdict, totals, findings, unselected }: Report): string {
  if (verdict === "unreachable") return "nothing judged";
  const broken = [...clauseOutcomes(findings)].filter(([, outcome]) => outcome === "fail").length;
  if (broken > 0) return `${formatCount(broken, "clause")} broken`;
  const passed = `${formatCount(totals.pass, "check")} passed`;
  const left = unexercisedMusts(findings, unselected).length;
  return verdict === "partial" && left > 0 ? `${passed}, ${formatCount(left, "clause")} not exercised` : passed;
}

/** A badge of the verdict as SVG: one file that asks for nothing over the network. */
export const renderBadge = ({ report }: Pick<ReportDocument, "report">): string => `${makeBadge(badgeOf(report))}\n`;

/** The same as the JSON that shields.io's endpoint badge reads, `schemaVersion` 1. */
export const badgeEndpoint = ({ report }: Pick<ReportDocument, "report">): string =>
  `${JSON.stringify({ schemaVersion: 1, ...badgeOf(report) })}\n`;
