import type { ReportFinding } from "./report.ts";

/**
 * How much of one cell of the document's universe a run looked at: answers of an endpoint with a status, events of a name, deliveries of a type.
 *
 * - `seen`: so many, of which so many were broken in some way.
 * - `within reach`: none, and what it takes to see some.
 * - `out of reach`: none, and no request can be named that makes one come.
 */
export type CoverageCell = { readonly kind: string } & (
  | { readonly state: "seen"; readonly looked: number; readonly broken: number }
  | { readonly state: "within reach"; readonly needs: string }
  | { readonly state: "out of reach" }
);

/** All cells of one endpoint, of the streams' events, or of the deliveries. */
export interface CoverageRow {
  readonly of: string;
  readonly cells: readonly CoverageCell[];
}

/** How much the checks of universal sentences looked at, taken together; empty where a report has none. */
export function coverageOf(findings: readonly ReportFinding[]): CoverageRow[] {
  const rows = new Map<string, Map<string, CoverageCell>>();
  for (const { seen } of findings) {
    for (const { of, kind, looked, broken } of seen?.cells ?? [])
      enter(rows, of, { kind, state: "seen", looked, broken });
    for (const { of, kind, needs } of seen?.unseen ?? [])
      enter(rows, of, needs === undefined ? { kind, state: "out of reach" } : { kind, state: "within reach", needs });
  }
  return [...rows].map(([of, cells]) => ({ of, cells: [...cells.values()] }));
}

/** One check's universe is part of another's: what most of them saw of a cell is what the run saw of it. */
function enter(rows: Map<string, Map<string, CoverageCell>>, of: string, cell: CoverageCell): void {
  const cells = rows.get(of) ?? new Map<string, CoverageCell>();
  rows.set(of, cells);
  const known = cells.get(cell.kind);
  cells.set(cell.kind, known === undefined ? cell : together(known, cell));
}

const strength = ["out of reach", "within reach", "seen"] as const;

function together(one: CoverageCell, other: CoverageCell): CoverageCell {
  if (one.state === "seen" && other.state === "seen")
    return { ...one, looked: Math.max(one.looked, other.looked), broken: Math.max(one.broken, other.broken) };
  return strength.indexOf(other.state) > strength.indexOf(one.state) ? other : one;
}

/** Whether a kind is a status of HTTP. */
export const isStatus = (kind: string): boolean => /^\d{3}$/.test(kind);

/** The statuses that any of the rows has, in order: columns of a matrix. */
export const statusesIn = (rows: readonly CoverageRow[]): string[] =>
  [...new Set(rows.flatMap(({ cells }) => cells.map(({ kind }) => kind)))].filter(isStatus).toSorted();

/** What it takes to see the cells that were within reach and not seen, each with their names. */
export function needsOf(rows: readonly CoverageRow[]): ReadonlyMap<string, readonly string[]> {
  const needed = rows.flatMap(({ of, cells }) =>
    cells.flatMap((cell) => (cell.state === "within reach" ? [{ needs: cell.needs, name: `${of} ${cell.kind}` }] : [])),
  );
  return new Map(
    [...Map.groupBy(needed, ({ needs }) => needs)].map(([needs, those]) => [needs, those.map(({ name }) => name)]),
  );
}
