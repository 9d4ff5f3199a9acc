import { makeBadge } from "badge-maker";
import type { ReportDocument, Report, Verdict } from "../model/report.ts";
import { reportShares } from "../model/profiles.ts";
import { wholePercent } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import { expiryOf } from "../statement/attestation.ts";
import { unexercisedMusts, failedClauses } from "../model/verdict.ts";
import { dayOf } from "../../base/duration.ts";

const verdictColours = {
  conformant: "brightgreen",
  nonconformant: "red",
  partial: "yellow",
  incomplete: "lightgrey",
  unreachable: "lightgrey",
} as const satisfies Record<Verdict, string>;

interface BadgeTime {
  readonly now?: Date;
  readonly signing?: { readonly validDays?: number };
}

function badgeOf(report: Report, { now = new Date(), signing = {} }: BadgeTime) {
  const label = report.load === undefined ? "conformance" : "conformance under load";
  const expires = expiryOf(report.finished, signing.validDays);
  if (now >= expires) return { label, message: `expired on ${dayOf(expires.toISOString())}`, color: "lightgrey" };
  const isUnmet = report.findings.some(({ outcome, level }) => outcome === "fail" && level === "load");
  return {
    label,
    message: `${report.verdict}, ${badgeCounts(report)}, ${dayOf(new Date(report.finished).toISOString())}`,
    color: isUnmet ? verdictColours.nonconformant : verdictColours[report.verdict],
  };
}

function badgeCounts(report: Report): string {
  const { verdict, totals, findings, unselected } = report;
  if (verdict === "unreachable") return "nothing judged";
  const broken = failedClauses(findings).length;
  if (broken > 0) return `${formatCount(broken, "clause")} broken`;
  const { musts } = reportShares(report);
  if (verdict !== "conformant" && musts !== null)
    return `${wholePercent(musts.exercised, musts.total)} % of must clauses exercised`;
  const passed = `${formatCount(totals.pass, "check")} passed`;
  const left = unexercisedMusts(findings, unselected).length;
  return verdict === "partial" && left > 0 ? `${passed}, ${formatCount(left, "clause")} not exercised` : passed;
}

/** Renders an SVG badge with verdict, counts and date. For an expired report, it shows only the expiry date. */
export const renderBadge = ({ report }: Pick<ReportDocument, "report">, time: BadgeTime = {}): string =>
  `${makeBadge(badgeOf(report, time))}\n`;

/** Renders the badge as JSON for the "endpoint badge" of shields.io, which draws the badge (`schemaVersion` 1). */
export const badgeEndpoint = ({ report }: Pick<ReportDocument, "report">, time: BadgeTime = {}): string =>
  `${JSON.stringify({ schemaVersion: 1, ...badgeOf(report, time) })}\n`;
