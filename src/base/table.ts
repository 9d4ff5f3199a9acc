import { cutToWidth, displayWidth, padded } from "./display-width.ts";
import { repainted } from "./paint.ts";
import { wrapBroken } from "./text.ts";

/** A column of a table on a terminal. */
export interface TableColumn {
  /** May be painted, like any cell. */
  readonly head: string;
  readonly align: "left" | "right";
  readonly width: ColumnWidth;
}

/** As wide as its widest cell, or of so many columns of the terminal, within which longer cells are wrapped or cut. */
export type ColumnWidth =
  | { readonly kind: "widest" }
  | { readonly kind: "wrapped"; readonly columns: number }
  | { readonly kind: "cut"; readonly columns: number };

export const widest: ColumnWidth = { kind: "widest" };

/** Columns of the terminal between two of a table. */
export const tableGap = 2;

/** Lines of a table without borders, its head first. No line ends with a blank. A row of one cell alone stands across all columns. */
export function tableLines(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string[] {
  const all = [columns.map(({ head }) => head), ...rows];
  const isWhole = (row: readonly string[]): boolean => row.length === 1 && columns.length > 1;
  const widths = columns.map(({ width }, at) =>
    width.kind === "widest"
      ? Math.max(...all.map((row) => (isWhole(row) ? 0 : displayWidth(row[at] ?? ""))))
      : width.columns,
  );
  return all.flatMap((row) => {
    if (isWhole(row)) return row;
    const cells = columns.map(({ width }, at) => cellLines(row[at] ?? "", width));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((lines, at) => padded(lines[line] ?? "", widths[at] ?? 0, columns[at]?.align))
        .join(" ".repeat(tableGap))
        .trimEnd(),
    );
  });
}

function cellLines(text: string, width: ColumnWidth): string[] {
  switch (width.kind) {
    case "widest":
      return [text];
    case "wrapped":
      return repainted(wrapBroken(text, width.columns));
    case "cut":
      return [displayWidth(text) <= width.columns ? text : `${cutToWidth(text, width.columns - 1)}…`];
  }
}
