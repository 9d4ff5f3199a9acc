import { displayWidth, padded } from "../../base/display-width.ts";
import { type TableColumn, tableLines, widest } from "../../base/table.ts";
import { formatLabelled } from "../../base/text.ts";
import { type Paint, paintFor } from "../../base/paint.ts";
import { formatTrial } from "../model/trial-id.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinBlocks } from "../terminal/blocks.ts";
import type { Comparison } from "./comparison.ts";
import { checksText, type Entry } from "./grouping.ts";
import { type LoadGroup, loadGroups } from "./metric-text.ts";
import { type Section, sectionsOf } from "./sections.ts";
import { countsText, sideText, verdictWords } from "./summary.ts";

export interface ComparisonTerminalOptions {
  /** Whether to colour; the caller obeys `NO_COLOR`, `FORCE_COLOR` and what kind of stream it is. */
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  /** Only a line for each regression, and the summary. */
  readonly quiet: boolean;
}

/** A comparison for the terminal: what was compared, what changed by kind, figures of load, and the summary as the last line. Ends with a line feed. */
export function renderComparisonTerminal(
  found: Comparison,
  { colour, width: columns, quiet }: ComparisonTerminalOptions,
): string {
  const paint = paintFor(colour);
  const width = Math.max(40, columns);
  const last = [summaryLine(found, paint)];
  if (quiet) return joinBlocks([regressionLines(found, width, paint), last], "\n");
  return joinBlocks([
    [
      ...formatLabelled("old  ", sideText(found.older), width, paint.bold),
      ...formatLabelled("new  ", sideText(found.newer), width, paint.bold),
    ],
    found.notes.flatMap((note) => formatLabelled("note  ", note, width, paint.cyan)),
    ...sectionsOf(found).map((section) => sectionLines(section, width, paint)),
    loadLines(found, width, paint),
    regressionNames(found, width, paint),
    last,
  ]);
}

/** What the parts above have told needs no more than its name. */
function regressionNames({ regressions }: Comparison, width: number, paint: Paint): string[] {
  const told = regressions.filter(({ finding }) => finding !== null);
  return [
    ...[...Map.groupBy(told, ({ kind }) => kind)].flatMap(([kind, members]) => {
      const names = checksText(members.flatMap(({ finding }) => finding ?? []));
      return formatLabelled(`regression  ${kind}  `, names, width, paint.red);
    }),
    ...regressionLines({ regressions: regressions.filter(({ finding }) => finding === null) }, width, paint),
  ];
}

const regressionLines = ({ regressions }: Pick<Comparison, "regressions">, width: number, paint: Paint): string[] =>
  regressions.flatMap(({ kind, says }) => formatLabelled(`regression  ${kind}  `, says, width, paint.red));

function summaryLine(found: Comparison, paint: Paint): string {
  const colour = found.regressions.length > 0 ? paint.red : paint.green;
  return `${paint.bold(colour(verdictWords(found)))}, ${countsText(found)}`;
}

const mostEntries = 10;
const mostCases = 4;
const mostLines = 12;

function sectionLines({ title, tone, count, entries, lines }: Section, width: number, paint: Paint): string[] {
  const colour = { bad: paint.red, good: paint.green, plain: paint.cyan }[tone];
  const left = entries.length - mostEntries;
  return [
    `${paint.bold(colour(title))}: ${count}`,
    ...entries.slice(0, mostEntries).flatMap((entry) => entryLines(entry, width, paint)),
    ...(left > 0 ? [`  and ${left} more clauses; --json has them all`] : []),
    ...lines.slice(0, mostLines).flatMap(({ label, text }) => formatLabelled(`  ${label}  `, text, width, paint.bold)),
    ...(lines.length > mostLines ? [`  and ${lines.length - mostLines} more; --json has them all`] : []),
  ];
}

function entryLines({ clause, level, says, cases }: Entry, width: number, paint: Paint): string[] {
  const head = formatLabelled(`  ${clause}  `, says === "" ? level : `${level} · ${says}`, width, paint.bold);
  return [
    ...head,
    ...cases
      .slice(0, mostCases)
      .flatMap(({ checks, rows }) => [
        ...(checks === clause ? [] : formatLabelled("    ", checks, width, paint.dim)),
        ...rows.flatMap(({ label, text }) => formatLabelled(`    ${padded(label, 9)} `, text, width, paint.dim)),
      ]),
    ...(cases.length > mostCases ? [`    and ${cases.length - mostCases} more`] : []),
  ];
}

function loadLines(found: Comparison, width: number, paint: Paint): string[] {
  const groups = loadGroups(found);
  const lone = (["older", "newer"] as const).flatMap((side) =>
    found.loneTrials[side].flatMap((load) =>
      formatLabelled(`only in the ${side}  `, sanitizeLine(formatTrial(load), 100), width, paint.bold),
    ),
  );
  return groups.length === 0 ? lone : [...loadTableLines(groups, width, paint), ...lone];
}

/** Where the terminal is narrow, the load stands on a line of its own above its figures. */
function loadTableLines(groups: readonly LoadGroup[], width: number, paint: Paint): string[] {
  const loadWidth = Math.max(...groups.map(({ load }) => displayWidth(load)));
  const isWide = loadWidth + 56 <= width;
  const heads: readonly TableColumn[] = [...(isWide ? (["load"] as const) : []), "figure", "old", "new", "change"].map(
    (head) => ({
      head: paint.dim(head),
      align: head === "load" || head === "figure" ? "left" : "right",
      width: widest,
    }),
  );
  return tableLines(
    heads,
    groups.flatMap(({ load, rows }) => [
      ...(isWide ? [] : [[paint.bold(load)]]),
      ...rows.map(({ figure, was, is, change }, at) => [
        ...(isWide ? [at === 0 ? load : ""] : []),
        figure,
        was,
        is,
        change,
      ]),
    ]),
  );
}
