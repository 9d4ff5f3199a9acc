import Table from "cli-table3";
import {
  cutToWidth,
  displayWidth,
  formatCount,
  formatLabelled,
  joinFirst,
  padToWidth,
  type Paint,
  wrapBreakingWords,
} from "../../base/text.ts";
import { sumOf } from "../../base/numbers.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import {
  type SectionBlock,
  type SharedCause,
  type CausesBlock,
  type FactsBlock,
  type Section,
  type SectionName,
  type TableBlock,
  type Tone,
  renderText,
  type Text,
} from "../model/section.ts";

export interface TerminalSettings {
  readonly colour: boolean;
  readonly width: number;
}

export interface TerminalStyle {
  readonly width: number;
  readonly paint: Paint;
}

/** Formats a text on one line. Escapes characters that control a terminal. */
export const formatText = (text: Text): string =>
  renderText(text, { own: (words) => words, outside: ({ raw, max }) => sanitizeLine(raw, max) });

/** Joins blocks of lines into a text that ends with a line feed. By default, an empty line separates the blocks. */
export const joinBlocks = (blocks: readonly (readonly string[])[], between = "\n\n"): string =>
  `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join("\n"))
    .join(between)}\n`;

const maxRowsBySection: Readonly<Partial<Record<SectionName, number>>> = { errors: 5, windows: 4, skipped: 20 };

const unbreakableSpace = "\u00a0";

export function sectionLines(section: Section, style: TerminalStyle): string[] {
  const { paint, width } = style;
  const { name, title, summary, blocks } = section;
  if (summary !== undefined) {
    const words = formatText(summary);
    const lines = words === "" ? [] : formatLabelled(`${title}  `, words, width, paint.bold);
    return lines.map((line) => line.replaceAll(unbreakableSpace, " "));
  }
  const heading = headingLines(section, style);
  const indent = heading.length === 0 ? "" : "  ";
  return [...heading, ...blocks.flatMap((block) => blockLines(block, maxRowsBySection[name], { ...style, indent }))];
}

/** Returns the heading of a section. Most sections have none: the first row of their table serves as heading. */
function headingLines({ name, title, lead, blocks }: Section, { paint, width }: TerminalStyle): string[] {
  if (name === "errors")
    return [`${paint.bold(paint.red("ERROR"))}  ${title}. ${lead === undefined ? "" : formatText(lead)}`];
  if (name === "windows" || name === "streams" || name === "caveats") return [paint.bold(title)];
  const causes = blocks.flatMap((block) => (block.kind === "causes" ? block.causes : []));
  const skipped = sumOf(causes.map(({ findings }) => findings.length));
  if (skipped === 0) return [];
  const [advice] = lead === undefined ? [] : formatLabelled("  ", formatText(lead), width, paint.dim);
  return [`${paint.bold(title)}: ${formatCount(skipped, "check")}`, ...(advice === undefined ? [] : [advice])];
}

interface IndentedStyle extends TerminalStyle {
  readonly indent: string;
}

function blockLines(block: SectionBlock, max: number | undefined, style: IndentedStyle): string[] {
  switch (block.kind) {
    case "table":
      return tableBlockLines(block, style);
    case "facts":
      return limitedLines(block.facts, max, style.indent, (facts) => factLines({ ...block, facts }, style));
    case "items":
      return limitedLines(block.items, max, "  ", (items) =>
        items.flatMap((item) => formatLabelled("  ", formatText(item), style.width, style.paint.dim)),
      );
    case "causes":
      return limitedLines(block.causes, max, "       ", (causes) =>
        causes.flatMap((cause) => causeLines(cause, block, style)),
      );
  }
}

function limitedLines<T>(
  rows: readonly T[],
  max = rows.length,
  indent: string,
  linesOf: (rows: readonly T[]) => string[],
): string[] {
  const left = rows.length - max;
  return [...linesOf(rows.slice(0, max)), ...(left > 0 ? [`${indent}and ${left} more in report.json`] : [])];
}

const factLines = ({ prefix = "", facts }: FactsBlock, { width, paint, indent }: IndentedStyle): string[] =>
  facts.flatMap(({ label, value }) =>
    prefix === ""
      ? formatLabelled(`${indent}${formatText(label)}  `, formatText(value), width, paint.bold)
      : formatLabelled(prefix, `${formatText(label)}: ${formatText(value)}`, width, paint.dim),
  );

function causeLines(
  { text, findings }: SharedCause,
  { prefix }: CausesBlock,
  { width, paint }: TerminalStyle,
): string[] {
  const clauses = [...new Set(findings.map(({ clause }) => sanitizeLine(clause, 60)))];
  const label = `${String(findings.length).padStart(5)}  `;
  return formatLabelled(label, `${prefix}${formatText(text)} (${joinFirst(clauses, 3)})`, width, paint.bold);
}

const minFirstColumn = 16;

/**
 * Formats a table to fit the width: drops columns, highest `dropRank` first. If that is not enough, cuts the first
 * column.
 */
function tableBlockLines({ columns, rows }: TableBlock, { width, paint }: TerminalStyle): string[] {
  const texts = rows.map((row) => row.map(({ text }) => formatText(text)));
  const widths = columns.map(({ head }, at) =>
    Math.max(displayWidth(head), ...texts.map((row) => displayWidth(row[at] ?? ""))),
  );
  const total = (shown: readonly number[]): number =>
    shown.reduce((sum, at) => sum + (widths[at] ?? 0) + tableGap, -tableGap);
  let shown = columns.map((_, at) => at);
  const ranks = [...new Set(columns.map(({ dropRank = 0 }) => dropRank))].filter((rank) => rank > 0);
  for (const rank of ranks.toSorted((one, other) => other - one))
    if (total(shown) > width) shown = shown.filter((at) => columns[at]?.dropRank !== rank);
  const firstWidth = Math.max(minFirstColumn, (widths[0] ?? 0) - Math.max(0, total(shown) - width));
  return tableLines(
    shown.map((at) => ({
      head: paint.dim(columns[at]?.head ?? ""),
      align: columns[at]?.align ?? "left",
      width: at === 0 && (widths[0] ?? 0) > firstWidth ? { kind: "cut", columns: firstWidth } : widestCell,
    })),
    rows.map((row, index) => shown.map((at) => paintTone(texts[index]?.[at] ?? "", row[at]?.tone ?? "plain", paint))),
  );
}

/** Colours a text by its tone. The words alone must be enough, because colours may be off. */
export function paintTone(text: string, tone: Tone, paint: Paint): string {
  switch (tone) {
    case "good":
      return paint.green(text);
    case "bad":
      return paint.bold(paint.red(text));
    case "caution":
      return paint.yellow(text);
    case "plain":
      return text;
  }
}

export interface TableColumn {
  readonly head: string;
  readonly align: "left" | "right";
  readonly width: ColumnWidth;
}

type ColumnWidth =
  | { readonly kind: "widest" }
  | { readonly kind: "wrapped"; readonly columns: number }
  | { readonly kind: "cut"; readonly columns: number };

export const widestCell: ColumnWidth = { kind: "widest" };

export const tableGap = 2;

const borderNames = ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
  ["", "-mid", "-left", "-right"].map((end) => side + end),
);
const borderCharacters = { ...Object.fromEntries(borderNames.map((name) => [name, ""])), middle: " ".repeat(tableGap) };

export function tableLines(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string[] {
  const table = new Table({
    // Pads the heading of a fixed-width column to that width. Otherwise, cli-table3 would shrink the column to its
    // longest cell.
    head: columns.map(({ head, width }) =>
      fitCell(width.kind === "widest" ? head : padToWidth(head, width.columns), width),
    ),
    chars: borderCharacters,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: columns.map(({ align }) => align),
  });
  table.push(...rows.map((row) => columns.map(({ width }, at) => fitCell(row[at] ?? "", width))));
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}

/** Cuts or wraps a cell's text to the width of its column. If cli-table3 did it, it might split a surrogate pair. */
function fitCell(text: string, width: ColumnWidth): string {
  if (width.kind === "widest") return text;
  if (width.kind === "wrapped") return wrapBreakingWords(text, width.columns).join("\n");
  return displayWidth(text) <= width.columns ? text : `${cutToWidth(text, width.columns - 1)}…`;
}
