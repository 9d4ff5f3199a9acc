import { tableLines, widest } from "../../src/report/terminal/table.ts";
import type { FigureRow, Machine } from "./figures.ts";
import { bytesText, type Cells, cellsOf, heads } from "./words.ts";

const shown = [
  "name",
  "subject",
  "baseline",
  "ratio",
  "spread",
  "cpu",
  "goal",
  "met",
] as const satisfies readonly (keyof Cells)[];

/** Formats the figures as a table for a terminal. */
export function terminalTable(rows: readonly FigureRow[]): string {
  const columns = shown.map((name) => ({ head: heads[name], align: "left", width: widest }) as const);
  const lines = rows.map(cellsOf).map((cells) => shown.map((name) => cells[name]));
  return tableLines(columns, lines).join("\n");
}

export const machineText = ({ cores, model, memoryBytes, system, node }: Machine): string =>
  `${cores} cores (${model}), ${bytesText(memoryBytes)}, ${system}, Node ${node}`;

/** Formats the line that is printed as soon as a row is measured. */
export function lineOf(row: FigureRow): string {
  const { name, subject, baseline, ratio, spread, cpu, goal, met } = cellsOf(row);
  if (row.kind === "failed") return `${name.padEnd(24)} failed: ${subject}`;
  return `${name.padEnd(24)} ${ratio.padStart(8)}  (${spread}; CPU ${cpu}; ${subject} against ${baseline}; goal ${goal}: ${met})`;
}
