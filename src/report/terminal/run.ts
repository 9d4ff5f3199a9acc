import { sanitizedEvidence, sanitizedReport } from "./sanitized-report.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { formatFindingBrief, failureLines, type FailureView } from "./failures.ts";
import { type ClauseGroup, groupByClause } from "../model/clause-groups.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst, formatLabelled } from "../../base/text.ts";
import { type Paint, paintFor } from "../../base/paint.ts";
import { createdKinds, type Report, type ReportFinding } from "../model/report.ts";
import { coverageTable } from "./coverage-table.ts";
import { sectionTable } from "./section-table.ts";
import { whyNothingJudged, verdictLine } from "../model/verdict.ts";

export interface TerminalOptions {
  /** Whether to colour; the caller obeys `NO_COLOR`, `FORCE_COLOR` and what kind of stream it is. */
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  /** Only a line for each broken clause, and the verdict. */
  readonly quiet: boolean;
  /** Folder that `report.json` and `evidence.json` are in, as a person would name it; `null` where they are not kept. */
  readonly folder: string | null;
  /** Shell variable that holds the key of this name, for the commands. */
  readonly variableOf: (keyName: string) => string | undefined;
  /** So many broken clauses are shown in full; 10 unless told. */
  readonly fullFailures?: number;
}

/**
 * A report for the terminal: what is broken, then what else was found, a table by section, what was not exercised and what
 * would enable it, and the verdict as the last line. Ends with a line feed. Texts of the target are made harmless; redaction is
 * the caller's.
 */
export function renderTerminal(
  kept: Report,
  evidence: Pick<Evidence, "exchanges" | "deliveries">,
  options: TerminalOptions,
): string {
  const report = sanitizedReport(kept);
  const paint = paintFor(options.colour);
  if (options.quiet) return joinBlocks([quietLines(report, paint), [verdictLine(report, paint)]], "\n");
  const where = options.folder === null ? [] : [`${paint.dim("report")}  ${pathIn(options.folder, "report.json")}`];
  // Of every check there would be the same to say.
  if (whyNothingJudged(report) !== null) return joinBlocks([where, [verdictLine(report, paint)]]);
  const width = Math.max(40, options.width);
  return joinBlocks([
    ...failureBlocks(report, evidence, { ...options, width, paint }),
    errorLines(report, width, paint),
    foundLines(groupByClause(report.findings, "warning"), "warning", width, paint),
    foundLines(groupByClause(report.findings, "note"), "note", width, paint),
    report.findings.length === 0 ? [] : sectionTable(report.findings, width, paint),
    coverageTable(report.findings, width, paint),
    skippedLines(report, width, paint),
    readingLines(report, width, paint),
    createdLines(report, width, paint),
    where,
    [verdictLine(report, paint)],
  ]);
}

/** Blocks with an empty line between them. */
export const joinBlocks = (blocks: readonly (readonly string[])[], between = "\n\n"): string =>
  `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join("\n"))
    .join(between)}\n`;

export const pathIn = (folder: string | null, file: string): string =>
  folder === null ? file : `${sanitizeLine(folder).replace(/\/$/, "")}/${file}`;

export function quietLines({ findings }: Report, paint: Paint): string[] {
  return (["fail", "error"] as const).flatMap((outcome) =>
    groupByClause(findings, outcome).map(({ clause, distinctFindings: [first] }) => {
      const said = outcome === "fail" ? formatFindingBrief(first) : sanitizeLine(first.finding.reason ?? "");
      return `${paint.red(outcome)} ${clause}: ${said}`;
    }),
  );
}

type FailureOptions = TerminalOptions & { readonly paint: Paint };

function failureBlocks(
  report: Report,
  kept: Pick<Evidence, "exchanges" | "deliveries">,
  options: FailureOptions,
): string[][] {
  const groups = groupByClause(report.findings, "fail");
  if (groups.length === 0) return [];
  const known = sanitizedEvidence(kept);
  const exchanges = new Map(known.exchanges.map((each) => [each.id, each]));
  const deliveries = new Map(known.deliveries.map((each) => [each.id, each]));
  const { variableOf, paint, width, folder, fullFailures = 10 } = options;
  const evidenceFile = pathIn(folder, "evidence.json");
  const view: FailureView = { exchanges, deliveries, variableOf, paint, width, evidenceFile, way: report.target.way };
  const shown = new Map<string, string>();
  const full = groups.slice(0, fullFailures).map((group) => failureLines(group, view, shown));
  const rest = groups.slice(fullFailures);
  if (rest.length === 0) return full;
  const where = folder === null ? "" : `; the whole of it is in ${pathIn(folder, "report.json")}`;
  return [
    ...full,
    [
      `${formatCount(rest.length, "more broken clause")}${where}:`,
      ...rest.flatMap(({ clause, distinctFindings: [first] }) =>
        formatLabelled(`FAIL  ${clause}  `, formatFindingBrief(first), width, paint.red),
      ),
    ],
  ];
}

const mostErrors = 5;

export function errorLines({ findings }: Report, width: number, paint: Paint): string[] {
  const groups = groupByClause(findings, "error");
  if (groups.length === 0) return [];
  return [
    `${paint.bold(paint.red("ERROR"))}  The harness itself failed here; this is not the target's fault.`,
    ...groups
      .slice(0, mostErrors)
      .flatMap(({ clause, distinctFindings: [{ finding }] }) =>
        formatLabelled(`       ${clause}  `, sanitizeLine(finding.reason ?? "", 300), width, paint.bold),
      ),
    ...moreLine(groups.length - mostErrors, "       "),
  ];
}

const mostFound = 10;

/** Warnings and notes: a clause's sentence, and what came instead. */
export function foundLines(
  groups: readonly ClauseGroup[],
  word: "warning" | "note",
  width: number,
  paint: Paint,
): string[] {
  const colour = word === "warning" ? paint.yellow : paint.cyan;
  const indent = " ".repeat(word.length + 2);
  return [
    ...groups
      .slice(0, mostFound)
      .flatMap(({ clause, says, distinctFindings: [first] }) => [
        ...formatLabelled(`${word}  ${clause}  `, says, width, colour),
        ...formatLabelled(indent, formatFindingBrief(first), width, paint.dim),
      ]),
    ...moreLine(groups.length - mostFound, indent),
  ];
}

const moreLine = (count: number, indent: string): string[] =>
  count > 0 ? [`${indent}and ${count} more in report.json`] : [];

const mostReasons = 20;

/** What was skipped, by what would enable it; where nothing would, by why. */
export function skippedLines({ findings }: Report, width: number, paint: Paint): string[] {
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  if (skipped.length === 0) return [];
  const groups = [...Map.groupBy(skipped, causeOf)].toSorted(([, a], [, b]) => b.length - a.length);
  return [
    `${paint.bold("Not exercised")}: ${formatCount(skipped.length, "check")}`,
    ...groups.slice(0, mostReasons).flatMap(([cause, members]) => {
      const ids = [...new Set(members.map(({ clause }) => clause))];
      return formatLabelled(
        `${String(members.length).padStart(5)}  `,
        `${cause} (${joinFirst(ids, 3)})`,
        width,
        paint.bold,
      );
    }),
    ...moreLine(groups.length - mostReasons, "       "),
  ];
}

const causeOf = ({ needs, reason = "" }: ReportFinding): string =>
  needs === undefined ? sanitizeLine(reason, 160) : `enabled by ${sanitizeLine(needs, 200)}`;

/** What the run made on the target and could not take away again. */
export function createdLines({ created }: Report, width: number, paint: Paint): string[] {
  if (created.length === 0) return [];
  const kinds = createdKinds.flatMap((kind) => {
    const count = created.filter((each) => each.kind === kind).length;
    return count === 0 ? [] : [formatCount(count, kind)];
  });
  const label = "left on the target (it cannot be deleted over HTTP): ";
  return formatLabelled(label, kinds.join(", "), Math.max(width, label.length + 40), paint.dim);
}

/** Names that tell only whether an optional field is there. */
export const presenceReadings = new Set(["absent", "present"]);
const mostReadings = 24;
const unbreakable = "\u00a0";

/** Which of the admissible readings the target follows, where that is more than a field's being there. */
function readingLines({ findings }: Report, width: number, paint: Paint): string[] {
  const byClause = Map.groupBy(
    findings.filter(({ reading }) => reading !== undefined && !presenceReadings.has(reading)),
    ({ clause }) => clause,
  );
  const said = [...byClause].map(([clause, members]) => {
    const readings = new Set(members.map(({ reading = "" }) => sanitizeLine(reading, 40)));
    return `${clause} ${[...readings].join(" / ")}`.replaceAll(" ", unbreakable);
  });
  if (said.length === 0) return [];
  return formatLabelled("Readings followed  ", joinFirst(said, mostReadings), width, paint.bold).map((line) =>
    line.replaceAll(unbreakable, " "),
  );
}
