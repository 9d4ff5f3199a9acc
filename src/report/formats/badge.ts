import { makeBadge } from "badge-maker";

import type { ReportDocument, Report, Verdict } from "../model/report.ts";
import { formatCount } from "../../base/text.ts";
import { clauseOutcomes, unexercisedMusts } from "../model/verdict.ts";

const verdictColours = {
  conformant: "brightgreen",
  nonconformant: "red",
  partial: "yellow",
  incomplete: "lightgrey",
  unreachable: "lightgrey",
} as const satisfies Record<Verdict, string>;

/** The verdict and its counts, as an SVG or JSON badge shows them. No text of the target is included. */
interface Badge {
  readonly label: string;
  readonly message: string;
  readonly color: string;
}

function badgeOf(report: Report): Badge {
  const isUnmet = report.findings.some(({ outcome, level }) => outcome === "fail" && level === "load");
  return {
    label: report.load === undefined ? "conformance" : "conformance under load",
    message: `${report.verdict}, ${countsOf(report)}`,
    color: isUnmet ? verdictColours.nonconformant : verdictColours[report.verdict],
  };
}

function countsOf({ verdict, totals, findings, unselected }: Report): string {
  if (verdict === "unreachable") return "nothing judged";
  const broken = [...clauseOutcomes(findings)].filter(([, outcome]) => outcome === "fail").length;
  if (broken > 0) return `${formatCount(broken, "clause")} broken`;
  const passed = `${formatCount(totals.pass, "check")} passed`;
  const left = unexercisedMusts(findings, unselected).length;
  return verdict === "partial" && left > 0 ? `${passed}, ${formatCount(left, "clause")} not exercised` : passed;
}

/** Renders a badge with the verdict as SVG. The image loads nothing over the network. */
export const renderBadge = ({ report }: Pick<ReportDocument, "report">): string => `${makeBadge(badgeOf(report))}\n`;

/** Renders the badge as JSON for the endpoint badge of shields.io (`schemaVersion` 1). */
export const badgeEndpoint = ({ report }: Pick<ReportDocument, "report">): string =>
  `${JSON.stringify({ schemaVersion: 1, ...badgeOf(report) })}\n`;
