import type { Enabler, SkipReason } from "../skip-reason.ts";
import type { Probe } from "../probe.ts";

/** A cell of a coverage matrix, such as all responses of invoke with status 200, or all events of one name. */
export interface Cell {
  /** The source of the cases: the name of an endpoint, `stream events` or `deliveries received`. */
  readonly of: string;
  /** The status, event name or delivery type that all cases of the cell have. */
  readonly kind: string;
}

/** A cell whose cases the interface document lists. */
export interface DocumentedCell extends Cell {
  /** The setting that a request needs to produce a case of this cell; `null` if none is needed or helps. */
  readonly reach: Enabler | null;
}

/** All cases to which a clause applies, in cells of one kind, such as `invoke` with status 200. */
export interface CoverageMatrix {
  /** Describes the cases that the matrix covers, such as "every response 200 of invoke". */
  readonly description: string;
  /** The cells that the interface document lists. */
  readonly cells: readonly DocumentedCell[];
  /** The probe that runs last, and sends requests for cells that still have no case; `null` if there is none. */
  readonly coverageProbe: Probe<UncoveredCells> | null;
}

/** The evidence of a probe that sends requests for cells without a case. */
export interface UncoveredCells {
  /** Cells that still have no case, with the reason. */
  readonly left: readonly (Cell & { readonly why: SkipReason })[];
}

/** Counts of the judged cases in one cell. `looked`: all of them; `broken`: those that break the clause. */
export interface CellCoverage extends Cell {
  readonly looked: number;
  readonly broken: number;
}

/** How many cases of a matrix were judged (`looked`), and how many of them break the clause. */
export interface Coverage {
  readonly looked: number;
  readonly broken: number;
  /** The cells that have a case: first those of the matrix, in its order, then others. */
  readonly cells: readonly CellCoverage[];
  /** Cells of the matrix that have no case. */
  readonly unseen: readonly DocumentedCell[];
}

export const cellName = ({ of, kind }: Cell): string => `${of} ${kind}`;
