import Table from "cli-table3";

import { cutToWidth, displayWidth, padToWidth } from "../../base/display-width.ts";
import { wrapBroken } from "../../base/text.ts";

export interface TableColumn {
  /** Heading of the column. Like any cell, it may contain colour codes. */
  readonly head: string;
  readonly align: "left" | "right";
  readonly width: ColumnWidth;
}

/** Width of a column: that of its widest cell, or a fixed one to which longer cells are wrapped or cut. */
export type ColumnWidth =
  | { readonly kind: "widest" }
  | { readonly kind: "wrapped"; readonly columns: number }
  | { readonly kind: "cut"; readonly columns: number };

export const widestCell: ColumnWidth = { kind: "widest" };

/** Number of spaces between two columns of a table. */
export const tableGap = 2;

const borderNames = ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
  ["", "-mid", "-left", "-right"].map((end) => side + end),
);
const borderCharacters = { ...Object.fromEntries(borderNames.map((name) => [name, ""])), middle: " ".repeat(tableGap) };

/** Formats a table without borders as lines, the heading first. No line ends with a space. */
export function tableLines(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string[] {
  const table = new Table({
    // Pads the heading of a column of fixed width. The library would otherwise make the column as narrow as its longest cell.
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

/** Cuts or wraps a cell to the width of its column. The library's own cut could split a surrogate pair. */
function fitCell(text: string, width: ColumnWidth): string {
  if (width.kind === "widest") return text;
  if (width.kind === "wrapped") return wrapBroken(text, width.columns).join("\n");
  return displayWidth(text) <= width.columns ? text : `${cutToWidth(text, width.columns - 1)}…`;
}
