import Table from "cli-table3";

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

/** The table for a terminal. */
export function terminalTable(rows: readonly FigureRow[]): string {
  const table = new Table({ head: shown.map((name) => heads[name]), style: { head: [], border: [] }, wordWrap: true });
  for (const cells of rows.map(cellsOf)) table.push(shown.map((name) => cells[name]));
  return table.toString();
}

export const machineText = ({ cores, model, memoryBytes, system, node }: Machine): string =>
  `${cores} cores (${model}), ${bytesText(memoryBytes)}, ${system}, Node ${node}`;

/** One line on a row, as soon as it is there. */
export function lineOf(row: FigureRow): string {
  const { name, subject, baseline, ratio, spread, cpu, goal, met } = cellsOf(row);
  if (row.kind === "failed") return `${name.padEnd(24)} failed: ${subject}`;
  return `${name.padEnd(24)} ${ratio.padStart(8)}  (${spread}; CPU ${cpu}; ${subject} against ${baseline}; goal ${goal}: ${met})`;
}
