import { displayWidth, padToWidth } from "../../src/base/text.ts";
import type { Figures } from "./figures.ts";
import { formatMachine, type RowCells, cellsOf, columnHeads } from "./row-text.ts";

const pageColumns = [
  "name",
  "what",
  "against",
  "subject",
  "baseline",
  "ratio",
  "cpu",
  "goal",
  "met",
] as const satisfies readonly (keyof RowCells)[];

const beginMark = "<!-- The bench writes from here: npm run bench -- --write -->";
const endMark = "<!-- to here. -->";

export function renderMarkdown(figures: Figures): string {
  const dates = figures.rows.map(({ at }) => at.slice(0, 10)).toSorted();
  const [first = "never"] = dates;
  const last = dates.at(-1) ?? first;
  return [
    `Measured on ${formatMachine(figures.machine)}, ${first === last ? `on ${first}` : `between ${first} and ${last}`}.`,
    "",
    ...tableLines(figures.rows.map(cellsOf)),
  ].join("\n");
}

/** Formats a Markdown table as oxfmt would: every column is as wide as its widest cell. */
function tableLines(rows: readonly RowCells[]): string[] {
  const all = [columnHeads, ...rows].map((cells) => pageColumns.map((name) => cells[name].replaceAll("|", "\\|")));
  const widths = pageColumns.map((_, at) => Math.max(3, ...all.map((cells) => displayWidth(cells[at] ?? ""))));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => padToWidth(cell, widths[at] ?? 0, "left")).join(" | ")} |`;
  const [head = [], ...body] = all;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body.map(line)];
}

export function replaceFigures(page: string, figures: Figures): string {
  const from = page.indexOf(beginMark);
  const to = page.indexOf(endMark);
  if (from < 0 || to < from) throw new Error("the page has no place for the figures of the bench");
  return `${page.slice(0, from + beginMark.length)}\n\n${renderMarkdown(figures)}\n\n${page.slice(to)}`;
}
