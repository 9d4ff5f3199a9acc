import { tableLines, widestCell } from "../../src/report/terminal/table.ts";
import type { FigureRow, Machine } from "./figures.ts";
import { bytesText, type RowCells, cellsOf, columnHeads } from "./row-text.ts";

const tableColumns = [
  "name",
  "subject",
  "baseline",
  "ratio",
  "spread",
  "cpu",
  "goal",
  "met",
] as const satisfies readonly (keyof RowCells)[];

/** Formats the figures as a table for a terminal. */
export function terminalTable(rows: readonly FigureRow[]): string {
  const columns = tableColumns.map((name) => ({ head: columnHeads[name], align: "left", width: widestCell }) as const);
  const lines = rows.map(cellsOf).map((cells) => tableColumns.map((name) => cells[name]));
  return tableLines(columns, lines).join("\n");
}

export const formatMachine = ({ cores, model, memoryBytes, system, node }: Machine): string =>
  `${cores} cores (${model}), ${bytesText(memoryBytes)}, ${system}, Node ${node}`;

/** Formats the line that is printed as soon as a row is measured. */
export function formatRow(row: FigureRow): string {
  const { name, subject, baseline, ratio, spread, cpu, goal, met } = cellsOf(row);
  if (row.kind === "failed") return `${name.padEnd(24)} failed: ${subject}`;
  return `${name.padEnd(24)} ${ratio.padStart(8)}  (${spread}; CPU ${cpu}; ${subject} against ${baseline}; goal ${goal}: ${met})`;
}
