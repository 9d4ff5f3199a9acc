import { displayWidth } from "../../base/display-width.ts";
import { type TableColumn, tableGap, tableLines, widest } from "../../base/table.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Paint } from "../../base/paint.ts";
import { type Outcome, outcomes, type ReportFinding } from "../model/report.ts";

/**
 * A row per section of the suites, in the report's order, and a last row of sums: how many clauses it has, and how many
 * findings of each outcome. Where the width does not hold all columns, those without a count are left out.
 */
export function sectionTable(findings: readonly ReportFinding[], width: number, paint: Paint): string[] {
  const sections = [...Map.groupBy(findings, ({ suite }) => suite)].map(([suite, members]) => rowOf(suite, members));
  const all = rowOf("all", findings);
  const columns = columnsFor(all, width);
  const widthOfFirst = sectionWidth([...sections, all], columns, width);
  const right = (name: string): TableColumn => ({ head: paint.dim(name), align: "right", width: widest });
  const heads: readonly TableColumn[] = [
    { head: paint.dim("section"), align: "left", width: { kind: "cut", columns: widthOfFirst } },
    ...["clauses", ...columns].map(right),
  ];
  return tableLines(
    heads,
    [...sections, all].map((row) => [
      row === all ? paint.bold(row.name) : row.name,
      String(row.clauses),
      ...columns.map((column) => cell(column, row.counts[column], paint)),
    ]),
  );
}

interface Row {
  readonly name: string;
  readonly clauses: number;
  readonly counts: Readonly<Record<Outcome, number>>;
}

function rowOf(name: string, findings: readonly ReportFinding[]): Row {
  const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  for (const { outcome } of findings) counts[outcome] += 1;
  return { name: sanitizeLine(name, 60), clauses: new Set(findings.map(({ clause }) => clause)).size, counts };
}

function columnsFor({ counts }: Row, width: number): Outcome[] {
  const usual = outcomes.filter((outcome) => outcome !== "error" || counts.error > 0);
  const fits = widthOf(usual) + leastSection <= width;
  return fits ? usual : usual.filter((outcome) => outcome === "pass" || outcome === "fail" || counts[outcome] > 0);
}

const leastSection = 16;

/** Width of all columns but the first, gaps included. */
const widthOf = (columns: readonly string[]): number =>
  ["clauses", ...columns].reduce((sum, column) => sum + tableGap + column.length, 0);

function sectionWidth(rows: readonly Row[], columns: readonly Outcome[], width: number): number {
  const longest = Math.max("section".length, ...rows.map(({ name }) => displayWidth(name)));
  return Math.min(longest, Math.max(leastSection, width - widthOf(columns)));
}

function cell(outcome: Outcome, count: number, paint: Paint): string {
  if (count === 0) return paint.dim("0");
  if (outcome === "fail" || outcome === "error") return paint.bold(paint.red(String(count)));
  return outcome === "warning" ? paint.yellow(String(count)) : String(count);
}
