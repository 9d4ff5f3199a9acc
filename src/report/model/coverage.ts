import { rejectedKeyKinds } from "../../spec/rejected-key-kinds.ts";
import type { ReportFinding } from "./report.ts";

/**
 * How much of one cell of the document's universe a run looked at: answers of an endpoint with a status, requests to it with a kind of key,
 * events of a name, deliveries of a type.
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
  const rows: Rows = new Map();
  // What one load run looked at, no other has.
  for (const those of Map.groupBy(findings, ({ load }) => JSON.stringify(load ?? null)).values())
    for (const [of, cells] of rowsOf(those)) for (const cell of cells.values()) enter(rows, of, cell, sideBySide);
  return [...rows].map(([of, cells]) => ({ of, cells: [...cells.values()] }));
}

type Rows = Map<string, Map<string, CoverageCell>>;

function rowsOf(findings: readonly ReportFinding[]): Rows {
  const rows: Rows = new Map();
  for (const { seen } of findings) {
    for (const { of, kind, looked, broken } of seen?.cells ?? [])
      enter(rows, of, { kind, state: "seen", looked, broken });
    for (const { of, kind, needs } of seen?.unseen ?? [])
      enter(rows, of, needs === undefined ? { kind, state: "out of reach" } : { kind, state: "within reach", needs });
  }
  return rows;
}

/** One check's universe is part of another's: what most of them saw of a cell is what the run saw of it. */
function enter(rows: Rows, of: string, cell: CoverageCell, join = together): void {
  const cells = rows.get(of) ?? new Map<string, CoverageCell>();
  rows.set(of, cells);
  const known = cells.get(cell.kind);
  cells.set(cell.kind, known === undefined ? cell : join(known, cell));
}

const strength = ["out of reach", "within reach", "seen"] as const;

function together(one: CoverageCell, other: CoverageCell): CoverageCell {
  if (one.state === "seen" && other.state === "seen")
    return { ...one, looked: Math.max(one.looked, other.looked), broken: Math.max(one.broken, other.broken) };
  return strength.indexOf(other.state) > strength.indexOf(one.state) ? other : one;
}

/** Endpoints by statuses, or by kinds of key. */
export interface Matrix {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly of: string; readonly cells: ReadonlyMap<string, CoverageCell> }[];
}

/** A status; under load a 429 says besides which limit it names, and exact counts alone do not tell statuses apart. */
const isStatus = (kind: string): boolean => /^(\d{3}( \w+)?|all)$/.test(kind);

const keyNames: ReadonlyMap<string, string> = new Map(Object.entries(rejectedKeyKinds));

/** The statuses that any of the rows has, in order. */
export function statusMatrix(rows: readonly CoverageRow[]): Matrix {
  const { columns, ...matrix } = matrixOf(rows, (kind) => (isStatus(kind) ? kind : undefined));
  return { ...matrix, columns: columns.toSorted() };
}

/** The kinds of key that are not good for what was asked, under their short names, in the order of the document. */
export function keyMatrix(rows: readonly CoverageRow[]): Matrix {
  const { columns, ...matrix } = matrixOf(rows, (kind) => keyNames.get(kind));
  return { ...matrix, columns: [...new Set(keyNames.values())].filter((name) => columns.includes(name)) };
}

/** What stands in neither matrix: events of streams, deliveries. */
export const otherRows = (rows: readonly CoverageRow[]): CoverageRow[] =>
  rows.filter(({ cells }) => cells.every(({ kind }) => !isStatus(kind) && !keyNames.has(kind)));

function matrixOf(rows: readonly CoverageRow[], columnOf: (kind: string) => string | undefined): Matrix {
  const found = rows.flatMap(({ of, cells }) => {
    const columns = new Map<string, CoverageCell>();
    for (const cell of cells) {
      const column = columnOf(cell.kind);
      if (column === undefined) continue;
      const known = columns.get(column);
      columns.set(column, known === undefined ? cell : sideBySide(known, cell));
    }
    return columns.size === 0 ? [] : [{ of, cells: columns }];
  });
  return { columns: [...new Set(found.flatMap(({ cells }) => [...cells.keys()]))], rows: found };
}

/** Two cells in one column. */
const sideBySide = (one: CoverageCell, other: CoverageCell): CoverageCell =>
  one.state === "seen" && other.state === "seen"
    ? { ...one, looked: one.looked + other.looked, broken: one.broken + other.broken }
    : together(one, other);

/** What it takes to see the cells that were within reach and not seen, each with their names. */
export function requirementsOf(rows: readonly CoverageRow[]): ReadonlyMap<string, readonly string[]> {
  const needed = rows.flatMap(({ of, cells }) =>
    cells.flatMap((cell) => (cell.state === "within reach" ? [{ needs: cell.needs, name: `${of} ${cell.kind}` }] : [])),
  );
  return new Map(
    [...Map.groupBy(needed, ({ needs }) => needs)].map(([needs, those]) => [needs, those.map(({ name }) => name)]),
  );
}
