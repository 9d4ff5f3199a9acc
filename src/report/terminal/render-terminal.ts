import { createPaint, formatCount, formatLabelled } from "../../base/text.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import {
  type BrokenClause,
  brokenClauses,
  groupByClause,
  impactOfCause,
  causeName,
  causesToFix,
  causeText,
  type FailureCause,
  causesHeading,
  failureCauses,
  furtherCauses,
  maxCausesShown,
} from "../model/broken-clauses.ts";
import type { Report } from "../model/report.ts";
import { type SectionName, text } from "../model/section.ts";
import { reportSections } from "../model/report-sections.ts";
import { whyNothingJudged, verdictTones } from "../model/verdict.ts";
import { verdictName, verdictReasons } from "../model/verdict-summary.ts";
import { evidenceContextOf, type EvidenceOptions, type RecordedMessages } from "../reproduce/finding-evidence.ts";
import {
  formatText,
  joinBlocks,
  paintTone,
  sectionLines,
  type TerminalSettings,
  type TerminalStyle,
} from "./section-lines.ts";
import { type FailureContext, failureLines, formatDistinctFinding } from "./failure-lines.ts";

export interface TerminalOptions extends EvidenceOptions, TerminalSettings {
  /** Whether to show only the verdict, and a line for each clause with the outcome `fail` or `error`. */
  readonly quiet: boolean;
  /** Whether to show the section `streaming`; and, even if a clause failed, others such as `readings`. */
  readonly verbose?: boolean;
}

export function renderTerminal(report: Report, evidence: RecordedMessages | null, options: TerminalOptions): string {
  const paint = createPaint(options.colour);
  const style = { paint, width: Math.max(40, options.width) };
  const verdict = [verdictLine(report, style)];
  if (options.quiet) return joinBlocks([quietLines(report, style), verdict], "\n");
  const context = { ...evidenceContextOf({ report, evidence }, options), ...style };
  const { folder = null } = options;
  const path = folder === null ? [] : [`${paint.dim("report")}  ${context.pathOf("report.json")}`];
  // If nothing was judged, the verdict line gives the reason. A list of skipped checks would only repeat this reason.
  if (whyNothingJudged(report) !== null) return joinBlocks([path, verdict]);
  const broken = brokenClauses(report);
  const ofOutcome = (outcome: BrokenClause["outcome"]): BrokenClause[] =>
    broken.filter((each) => each.outcome === outcome);
  const fails = failureCauses(report).flatMap((cause) => cause.broken.filter(({ outcome }) => outcome === "fail"));
  const sections = reportSections(report).filter(({ name }) =>
    isSectionShown(name, fails.length > 0, options.verbose ?? false),
  );
  const causes = causesToFix(report);
  return joinBlocks([
    fixFirstLines(causes, style),
    ...failureBlocks(fails, causes, context, options),
    ...sections.filter(({ name }) => name === "errors").map((section) => sectionLines(section, style)),
    warningOrNoteLines(ofOutcome("warning"), style),
    warningOrNoteLines(ofOutcome("note"), style),
    ...sections.filter(({ name }) => name !== "errors").map((section) => sectionLines(section, style)),
    path,
    verdict,
  ]);
}

const sectionsForVerbose: ReadonlySet<SectionName> = new Set([
  "counts",
  "profiles",
  "coverage",
  "readings",
  "upcoming",
]);

function isSectionShown(name: SectionName, isBroken: boolean, isVerbose: boolean): boolean {
  if (name === "observations" || name === "about") return false;
  if (name === "streaming") return isVerbose;
  return isVerbose || !isBroken || !sectionsForVerbose.has(name);
}

function fixFirstLines(causes: readonly FailureCause[], { paint, width }: TerminalStyle): string[] {
  if (causes.length === 0) return [];
  const further = furtherCauses(causes);
  const shown = causes.slice(0, maxCausesShown);
  const impacts = shown.map((cause) => formatText(impactOfCause(cause)));
  const causeLines = (cause: FailureCause, at: number): string[] => {
    const label = `${String(at + 1).padStart(3)}  `;
    const found = formatText(text`${causeName(cause)}: ${causeText(cause)}`);
    // Leaves out the impact if it equals the impact of the cause above.
    const impact = impacts[at] === impacts[at - 1] ? "" : (impacts[at] ?? "");
    return [
      ...firstTwoLines(formatLabelled(label, found, width, paint.bold)),
      ...(impact === "" ? [] : firstTwoLines(formatLabelled("     ", impact, width, paint.dim))),
    ];
  };
  return [
    paint.bold(causesHeading(causes)),
    ...shown.flatMap(causeLines),
    ...(further === null ? [] : [`     and ${further}`]),
  ];
}

/** Cuts a text about a failure cause to two lines, so that the causes and the first exchange fit on a screen. */
const firstTwoLines = ([first = "", second, ...rest]: readonly string[]): string[] => {
  if (second === undefined) return [first];
  return [first, rest.length === 0 ? second : `${second} …`];
};

function verdictLine(report: Report, { paint }: TerminalStyle): string {
  const name = paintTone(report.verdict, verdictTones[report.verdict], paint);
  return `${paint.bold(name)}${verdictName(report).slice(report.verdict.length)}: ${formatText(verdictReasons(report))}`;
}

const quietLines = ({ findings }: Report, { paint }: TerminalStyle): string[] =>
  (["fail", "error"] as const).flatMap((outcome) =>
    groupByClause(findings, outcome).map(({ clause, distinctFindings: [first] }) => {
      const words = outcome === "fail" ? formatDistinctFinding(first) : sanitizeLine(first.finding.reason ?? "");
      return `${paint.red(outcome)} ${sanitizeLine(clause, 60)}: ${words}`;
    }),
  );

const maxFullFailures = 10;

function failureBlocks(
  broken: readonly BrokenClause[],
  causes: readonly FailureCause[],
  context: FailureContext,
  { folder = null }: TerminalOptions,
): string[][] {
  const { paint, width } = context;
  const clauseByMessage = new Map<string, string>();
  const full = broken.slice(0, maxFullFailures).map(({ group }) => {
    const at = causes.findIndex((cause) => cause.broken.some((each) => each.group.clause === group.clause));
    return failureLines(group, context, clauseByMessage, at === -1 ? null : at + 1);
  });
  const rest = broken.slice(maxFullFailures);
  if (rest.length === 0) return full;
  const where = folder === null ? "" : `; ${context.pathOf("report.json")} has them in full`;
  return [
    ...full,
    [
      `${formatCount(rest.length, "more broken clause")}${where}:`,
      ...rest.flatMap(({ group: { clause, distinctFindings } }) =>
        formatLabelled(
          `FAIL  ${sanitizeLine(clause, 60)}  `,
          formatDistinctFinding(distinctFindings[0]),
          width,
          paint.red,
        ),
      ),
    ],
  ];
}

const maxWarningClauses = 10;

function warningOrNoteLines(broken: readonly BrokenClause[], { paint, width }: TerminalStyle): string[] {
  const hiddenCount = broken.length - maxWarningClauses;
  const indent = " ".repeat((broken[0]?.outcome.length ?? 0) + 2);
  return [
    ...broken
      .slice(0, maxWarningClauses)
      .flatMap(({ outcome, group: { clause, says, distinctFindings } }) => [
        ...formatLabelled(
          `${outcome}  ${sanitizeLine(clause, 60)}  `,
          says,
          width,
          outcome === "warning" ? paint.yellow : paint.cyan,
        ),
        ...formatLabelled(indent, formatDistinctFinding(distinctFindings[0]), width, paint.dim),
      ]),
    ...(hiddenCount > 0 ? [`${indent}and ${hiddenCount} more in report.json`] : []),
  ];
}
