import { sanitizeLine } from "../../base/sanitize.ts";
import type { Paint } from "../../base/paint.ts";
import { tableLines, widest } from "../../base/table.ts";
import { joinFirst, formatLabelled } from "../../base/text.ts";
import {
  type CoverageCell,
  type CoverageRow,
  coverageOf,
  keyMatrix,
  type Matrix,
  requirementsOf,
  otherRows,
  statusMatrix,
} from "../model/coverage.ts";
import type { ReportFinding } from "../model/report.ts";

const mostNames = 6;

/**
 * Endpoints by statuses with counts, and by kinds of key that are not good for them, the other cells in a line each, and what it takes to
 * see more; no lines where a report tells of none.
 */
export function coverageTable(findings: readonly ReportFinding[], width: number, paint: Paint): string[] {
  const rows = coverageOf(findings);
  return [
    ...matrixLines("looked at", statusMatrix(rows), paint),
    ...matrixLines("with key", keyMatrix(rows), paint),
    ...otherRows(rows).flatMap((row) =>
      formatLabelled(`${sanitizeLine(row.of, 40)}  `, eventsOf(row), width, paint.dim),
    ),
    ...[...requirementsOf(rows)].flatMap(([needs, names]) =>
      formatLabelled("not seen  ", `${joinFirst([...names], mostNames)}: it takes ${needs}`, width, paint.dim),
    ),
  ];
}

function matrixLines(title: string, { columns, rows }: Matrix, paint: Paint): string[] {
  if (rows.length === 0) return [];
  const heads = [title, ...columns].map((name, at) => ({
    head: paint.dim(name),
    align: at === 0 ? ("left" as const) : ("right" as const),
    width: widest,
  }));
  const lines = rows.map(({ of, cells }) => [
    sanitizeLine(of, 40),
    ...columns.map((column) => countOf(cells.get(column), paint)),
  ]);
  return tableLines(heads, lines);
}

/** `41`, `3/41` where some are broken, `?` where more was within reach, `-` where nothing can be made to come. */
function countOf(cell: CoverageCell | undefined, paint: Paint): string {
  switch (cell?.state) {
    case "seen":
      return cell.broken > 0 ? paint.red(`${cell.broken}/${cell.looked}`) : String(cell.looked);
    case "within reach":
      return paint.yellow("?");
    case "out of reach":
      return paint.dim("-");
    case undefined:
      return "";
  }
}

const eventsOf = ({ cells }: CoverageRow): string =>
  cells.map((cell) => `${sanitizeLine(cell.kind, 40)} ${cell.state === "seen" ? cell.looked : "not seen"}`).join(", ");
