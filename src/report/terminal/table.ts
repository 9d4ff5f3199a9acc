import Table from "cli-table3";

import { cutToWidth, displayWidth, padded } from "../../base/display-width.ts";
import { wrapBroken } from "../../base/text.ts";

export interface TableColumn {
  /** May be coloured, like any cell. */
  readonly head: string;
  readonly align: "left" | "right";
  readonly width: ColumnWidth;
}

/** The width of the widest cell, or a number of terminal columns; longer cells are then wrapped or cut. */
export type ColumnWidth =
  | { readonly kind: "widest" }
  | { readonly kind: "wrapped"; readonly columns: number }
  | { readonly kind: "cut"; readonly columns: number };

export const widest: ColumnWidth = { kind: "widest" };

/** Terminal columns between two columns of a table. */
export const tableGap = 2;

const borderNames = ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
  ["", "-mid", "-left", "-right"].map((end) => side + end),
);
const chars = { ...Object.fromEntries(borderNames.map((name) => [name, ""])), middle: " ".repeat(tableGap) };

/** Formats a table without borders as lines, the head first. No line ends with a blank. */
export function tableLines(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string[] {
  const table = new Table({
    // Pads the head, so that a column of fixed width keeps this width even if all its cells are shorter.
    head: columns.map(({ head, width }) =>
      fitCell(width.kind === "widest" ? head : padded(head, width.columns), width),
    ),
    chars,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: columns.map(({ align }) => align),
  });
  table.push(...rows.map((row) => columns.map(({ width }, at) => fitCell(row[at] ?? "", width))));
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}

/** Fits a cell into its column. The library would cut between the halves of a surrogate pair. */
function fitCell(text: string, width: ColumnWidth): string {
  if (width.kind === "widest") return text;
  if (width.kind === "wrapped") return wrapBroken(text, width.columns).join("\n");
  return displayWidth(text) <= width.columns ? text : `${cutToWidth(text, width.columns - 1)}…`;
}
