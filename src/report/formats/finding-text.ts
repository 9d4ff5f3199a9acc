import { sinceOf } from "../model/requirements.ts";
import { createPaint } from "../../base/paint.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { breachText, clauseSentence, findingName } from "../model/finding-text.ts";
import { trialInstance } from "../model/load-results.ts";
import { isBroken, type ReportDocument, type ReportFinding } from "../model/report.ts";
import { evidenceContextOf } from "../reproduce/finding-evidence.ts";
import { formatText } from "../terminal/section-lines.ts";
import { evidenceLines, type FailureContext, findingLines } from "../terminal/failure-lines.ts";

/** Returns settings that format evidence as plain text, without colours or wrapped lines. */
export const plainTextContext = (document: ReportDocument): FailureContext => ({
  ...evidenceContextOf(document),
  width: Number.POSITIVE_INFINITY,
  paint: createPaint(false),
});

/** The title of a finding in formats that list tests: its name, and the sentence of its clause. */
export const findingTitle = (finding: ReportFinding): string =>
  sanitizeLine(`${findingName(finding)} ${clauseSentence(finding.clause)}`, 400);

/** Formats what was expected and what happened, for a broken finding, on one line. */
export const formatBreach = (finding: ReportFinding, max = 200): string => formatText(breachText(finding, max));

/** Says why a check was skipped and what would enable it, on one line. */
export function formatSkip({ reason = "", needs }: ReportFinding, max = 300): string {
  const why = sanitizeLine(reason, max);
  return needs === undefined ? why : `${why}${why === "" ? "" : "; "}enabled by ${sanitizeLine(needs, max)}`;
}

/** Formats a finding that counts only from a later requirement set on: the set and the result, on one line. */
export function formatUpcoming(finding: ReportFinding, max = 300): string {
  const { outcome, reason = "" } = finding;
  const found = isBroken(finding) ? formatBreach(finding, max) : sanitizeLine(reason, max);
  return `upcoming, counts from requirement set ${sanitizeLine(sinceOf(finding), 40)}: ${outcome}${found === "" ? "" : `, ${found}`}`;
}

/** Returns the details of a failure as lines of plain text: expected, actual, tier and evidence. */
export function failureDetails(finding: ReportFinding, context: FailureContext): string[] {
  const { instance, load } = finding;
  const instances = load === undefined ? (instance ?? []) : trialInstance(load);
  return [...findingLines({ finding, instances: [instances].flat() }, context), ...evidenceLines(finding, context)];
}

/**
 * Total duration of a finding's exchanges, in milliseconds; 0 without evidence. An exchange may belong to several findings, so the sum of
 * these durations is not that of the run.
 */
export function findingMs({ evidence = [] }: ReportFinding, { recorded }: FailureContext): number {
  const { exchanges } = recorded();
  return evidence.reduce((sum, id) => {
    const exchange = exchanges.get(id);
    return exchange === undefined ? sum : sum + Math.max(0, exchange.answer.endMs - exchange.sentMs);
  }, 0);
}

export const harnessFailedText = "The harness itself failed; this is not the target's fault";
