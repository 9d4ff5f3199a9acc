import { type TableColumn, tableGap, tableLines } from "../base/table.ts";

/** Least width of a vendor's column, the gap before it included. */
export const leastColumn = 19;
export const labelWidth = 22;
const mostColumn = 48;

/** A table without borders: a column of labels, and one for each vendor, in which long texts are wrapped. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const each = Math.min(
    mostColumn,
    Math.max(leastColumn, Math.floor((width - labelWidth) / (head.length - 1))) - tableGap,
  );
  const columns = head.map((text, at): TableColumn => ({
    head: text,
    align: "left",
    width: { kind: "wrapped", columns: at === 0 ? labelWidth : each },
  }));
  return tableLines(columns, rows).join("\n");
}
