import { createPaint, displayWidth, formatLabelled, padToWidth, type Paint } from "../../base/text.ts";
import {
  joinBlocks,
  type TableColumn,
  tableLines,
  type TerminalSettings,
  widestCell,
} from "../terminal/section-lines.ts";
import { formatTrial } from "../model/load-results.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { ComparedSide, Comparison } from "./comparison.ts";
import {
  type ClauseWithResults,
  type ComparisonSection,
  comparisonSections,
  formatChangeCounts,
  formatChecks,
  formatComparedReport,
  formatComparisonSummary,
  formatCovered,
  formatRegressionCount,
} from "./sections.ts";
import { groupMetricsByTrial, type TrialMetrics } from "./load-metrics.ts";
import { markdownCode, markdownProse, markdownTable } from "../formats/markdown-text.ts";

export interface ComparisonTerminalOptions extends TerminalSettings {
  /** Whether to show only the summary and one line for each regression. */
  readonly quiet: boolean;
}

export function renderComparisonTerminal(
  found: Comparison,
  { colour, width: columns, quiet }: ComparisonTerminalOptions,
): string {
  const paint = createPaint(colour);
  const width = Math.max(40, columns);
  const last = [summaryLine(found, paint)];
  if (quiet) return joinBlocks([regressionLines(found, width, paint), last], "\n");
  return joinBlocks([
    [...sideLines("old  ", found.older, width, paint), ...sideLines("new  ", found.newer, width, paint)],
    found.notes.flatMap((note) => formatLabelled("note  ", note, width, paint.cyan)),
    ...comparisonSections(found).map((section) => sectionLines(section, width, paint)),
    loadMetricLines(found, width, paint),
    regressionListLines(found, width, paint),
    last,
  ]);
}

function sideLines(label: string, side: ComparedSide, width: number, paint: Paint): string[] {
  const covered = formatCovered(side);
  return [
    ...formatLabelled(label, formatComparedReport(side), width, paint.bold),
    ...(covered === "" ? [] : formatLabelled("     ", covered, width, paint.dim)),
  ];
}

function regressionListLines({ regressions }: Comparison, width: number, paint: Paint): string[] {
  const ofFindings = regressions.filter(({ finding }) => finding !== null);
  return [
    ...[...Map.groupBy(ofFindings, ({ kind }) => kind)].flatMap(([kind, members]) => {
      const names = formatChecks(members.flatMap(({ finding }) => finding ?? []));
      return formatLabelled(`regression  ${kind}  `, names, width, paint.red);
    }),
    ...regressionLines({ regressions: regressions.filter(({ finding }) => finding === null) }, width, paint),
  ];
}

const regressionLines = ({ regressions }: Pick<Comparison, "regressions">, width: number, paint: Paint): string[] =>
  regressions.flatMap(({ kind, says }) => formatLabelled(`regression  ${kind}  `, says, width, paint.red));

function summaryLine(found: Comparison, paint: Paint): string {
  const colour = found.regressions.length > 0 ? paint.red : paint.green;
  return `${paint.bold(colour(formatRegressionCount(found)))}, ${formatChangeCounts(found)}`;
}

const maxListedClauses = 10;
const maxListedResults = 4;
const maxListedCauses = 12;

function sectionLines(
  { title, tone, count, entries, lines }: ComparisonSection,
  width: number,
  paint: Paint,
): string[] {
  const colour = { bad: paint.red, good: paint.green, plain: paint.cyan }[tone];
  const left = entries.length - maxListedClauses;
  return [
    `${paint.bold(colour(title))}: ${count}`,
    ...entries.slice(0, maxListedClauses).flatMap((entry) => clauseLines(entry, width, paint)),
    ...(left > 0 ? [`  and ${left} more clauses; --json has them all`] : []),
    ...lines
      .slice(0, maxListedCauses)
      .flatMap(({ label, text }) => formatLabelled(`  ${label}  `, text, width, paint.bold)),
    ...(lines.length > maxListedCauses ? [`  and ${lines.length - maxListedCauses} more; --json has them all`] : []),
  ];
}

function clauseLines({ clause, level, says, cases }: ClauseWithResults, width: number, paint: Paint): string[] {
  const head = formatLabelled(`  ${clause}  `, says === "" ? level : `${level} · ${says}`, width, paint.bold);
  return [
    ...head,
    ...cases
      .slice(0, maxListedResults)
      .flatMap(({ checks, rows }) => [
        ...(checks === clause ? [] : formatLabelled("    ", checks, width, paint.dim)),
        ...rows.flatMap(({ label, text }) => formatLabelled(`    ${padToWidth(label, 9)} `, text, width, paint.dim)),
      ]),
    ...(cases.length > maxListedResults ? [`    and ${cases.length - maxListedResults} more`] : []),
  ];
}

function loadMetricLines(found: Comparison, width: number, paint: Paint): string[] {
  const groups = groupMetricsByTrial(found);
  const unpaired = (["older", "newer"] as const).flatMap((side) =>
    found.loneTrials[side].flatMap((load) =>
      formatLabelled(`only in the ${side}  `, sanitizeLine(formatTrial(load), 100), width, paint.bold),
    ),
  );
  return groups.length === 0 ? unpaired : [...loadTableLines(groups, width, paint), ...unpaired];
}

function loadTableLines(groups: readonly TrialMetrics[], width: number, paint: Paint): string[] {
  const loadWidth = Math.max(...groups.map(({ load }) => displayWidth(load)));
  const isWide = loadWidth + 56 <= width;
  const heads: readonly TableColumn[] = [...(isWide ? (["load"] as const) : []), "metric", "old", "new", "change"].map(
    (head) => ({
      head: paint.dim(head),
      align: head === "load" || head === "metric" ? "left" : "right",
      width: widestCell,
    }),
  );
  const [head = "", ...lines] = tableLines(
    heads,
    groups.flatMap(({ load, rows }) => rows.map((row, at) => [...(isWide ? [at === 0 ? load : ""] : []), ...row])),
  );
  if (isWide) return [head, ...lines];
  return [head, ...groups.flatMap(({ load, rows }) => [paint.bold(load), ...lines.splice(0, rows.length)])];
}

const maxMarkdownClauses = 50;

export function renderComparisonMarkdown(found: Comparison): string {
  const blocks = [
    `## ${found.regressions.length === 0 ? "✅" : "❌"} ${markdownProse(formatComparisonSummary(found))}`,
    [sideMarkdown("old", found.older), sideMarkdown("new", found.newer)].join("\n"),
    ...(found.notes.length === 0 ? [] : [found.notes.map((note) => `> ${markdownProse(note)}`).join("\n>\n")]),
    ...(found.regressions.length === 0
      ? []
      : [
          `### Regressions\n\n${found.regressions.map(({ kind, says }) => `- **${kind}** ${markdownCode(says)}`).join("\n")}`,
        ]),
    ...comparisonSections(found).map(sectionMarkdown),
    ...loadMarkdown(found),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function sideMarkdown(label: string, side: ComparedSide): string {
  const covered = formatCovered(side);
  const text = `- **${label}**: ${markdownProse(formatComparedReport(side))}`;
  return covered === "" ? text : `${text}\n  - ${markdownProse(covered)}`;
}

function sectionMarkdown({ title, tone, count, entries, lines }: ComparisonSection): string {
  const left = entries.length - maxMarkdownClauses;
  const body = [
    ...entries.slice(0, maxMarkdownClauses).map(clauseMarkdown),
    ...(left > 0 ? [`- and ${left} more clauses`] : []),
    ...lines.map(({ label, text }) => `- **${label}** ${markdownCode(text)}`),
  ].join("\n");
  if (tone === "bad") return `### ${title}: ${count}\n\n${body}`;
  return `<details>\n<summary>${title}: ${count}</summary>\n\n${body}\n\n</details>`;
}

function clauseMarkdown({ clause, level, says, cases }: ClauseWithResults): string {
  const lines = cases.flatMap(({ checks, rows }) => [
    ...(checks === clause ? [] : [`  - ${markdownCode(checks)}`]),
    ...rows.map(({ label, text }) => `${checks === clause ? "  " : "    "}- ${label}: ${markdownCode(text)}`),
  ]);
  return [`- **${markdownProse(clause)}** ${level}${says === "" ? "" : ` · ${markdownProse(says)}`}`, ...lines].join(
    "\n",
  );
}

function loadMarkdown(found: Comparison): string[] {
  const groups = groupMetricsByTrial(found);
  if (groups.length === 0) return [];
  const rows = groups.flatMap((group) =>
    group.rows.map((row, at) => [at === 0 ? markdownProse(group.load) : "", ...row]),
  );
  return [`### Load\n\n${markdownTable(["load", "metric", "old", "new", "change"], rows, [2, 3, 4])}`];
}
