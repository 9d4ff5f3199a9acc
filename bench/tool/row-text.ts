import type { Measurement } from "../measuring/measurement.ts";
import { comparedValue } from "./measure.ts";
import { tableLines, widestCell } from "../../src/report/terminal/section-lines.ts";
import type { FigureRow, Machine } from "./figures.ts";

export interface RowCells {
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly subject: string;
  readonly baseline: string;
  readonly ratio: string;
  readonly spread: string;
  readonly cpu: string;
  readonly goal: string;
  readonly met: string;
}

export const columnHeads: Readonly<Record<keyof RowCells, string>> = {
  name: "row",
  what: "what",
  against: "against",
  subject: "subject",
  baseline: "baseline",
  ratio: "ratio",
  spread: "rounds",
  cpu: "CPU",
  goal: "goal",
  met: "met",
};

export function cellsOf(row: FigureRow): RowCells {
  const { name, what, against } = row;
  const goal = goalText(row);
  if (row.kind === "failed")
    return {
      name,
      what,
      against,
      subject: row.reason,
      baseline: "–",
      ratio: "–",
      spread: "–",
      cpu: "–",
      goal,
      met: "failed",
    };
  return {
    name,
    what,
    against,
    goal,
    subject: figureText(row, row.subject),
    baseline: figureText(row, row.baseline),
    ratio: ratioText(row.ratio),
    spread: `${ratioText(row.lowestRatio)}–${ratioText(row.highestRatio)}`,
    cpu: row.compared === "memory" || row.baseline.cpuMs === 0 ? "–" : ratioText(row.cpuRatio),
    met: row.isMet === null ? "–" : row.isMet ? "yes" : "no",
  };
}

function goalText({ goal, compared }: FigureRow): string {
  switch (goal.of) {
    case "nothing":
      return "–";
    case "subject":
      return `≤ ${compared === "memory" ? bytesText(goal.value) : msText(goal.value)}`;
    case "ratio":
      return `${goal.is === "at most" ? "≤" : "≥"} ${goal.value} ×`;
  }
}

function figureText({ compared }: FigureRow, took: Measurement): string {
  const figure = comparedValue(compared, took);
  return compared === "memory" ? bytesText(figure) : msText(figure);
}

const ratioText = (ratio: number): string => `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)} ×`;

function msText(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;
}

function bytesText(bytes: number): string {
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(0)} MB`;
  return bytes >= 10_000 ? `${(bytes / 1000).toFixed(0)} kB` : `${bytes.toFixed(0)} bytes`;
}

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

export function terminalTable(rows: readonly FigureRow[]): string {
  const columns = tableColumns.map((name) => ({ head: columnHeads[name], align: "left", width: widestCell }) as const);
  const lines = rows.map(cellsOf).map((cells) => tableColumns.map((name) => cells[name]));
  return tableLines(columns, lines).join("\n");
}

export const formatMachine = ({ cores, model, memoryBytes, system, node }: Machine): string =>
  `${cores} cores (${model}), ${bytesText(memoryBytes)}, ${system}, Node ${node}`;

export function formatRow(row: FigureRow): string {
  const { name, subject, baseline, ratio, spread, cpu, goal, met } = cellsOf(row);
  if (row.kind === "failed") return `${name.padEnd(24)} failed: ${subject}`;
  return `${name.padEnd(24)} ${ratio.padStart(8)}  (${spread}; CPU ${cpu}; ${subject} against ${baseline}; goal ${goal}: ${met})`;
}
