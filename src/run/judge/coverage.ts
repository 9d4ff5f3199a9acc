import type { Enabler, SkipReason } from "../skip-reason.ts";
import type { Probe } from "../probe.ts";

/** A cell of a coverage matrix, such as all responses of invoke with status 200, or all events of one name. */
export interface Cell {
  /** An endpoint, `stream events` or `deliveries received`. */
  readonly of: string;
  /** The status, the event name or the delivery type. */
  readonly kind: string;
}

/** A cell that the document lists. */
export interface DocumentedCell extends Cell {
  /**
   * The requirement for a request to cause this case, apart from a key and an agent. `null` if there is none, or if no
   * request can cause the case.
   */
  readonly reach: Enabler | null;
}

/** All cases that a clause covers. */
export interface CoverageMatrix {
  /** The cases in words: "every response 200 of invoke". */
  readonly description: string;
  /** The cells that the document lists. */
  readonly cells: readonly DocumentedCell[];
  /** Sends requests for cells that no other probe of the run has covered. `null` if no probe can. */
  readonly coverageProbe: Probe<UncoveredCells> | null;
}

/** The result of requesting cells that the run had not covered. */
export interface UncoveredCells {
  /** Cells that are still uncovered, and why. */
  readonly left: readonly (Cell & { readonly why: SkipReason })[];
}

/** How many cases of a cell were checked. */
export interface CellCoverage extends Cell {
  readonly looked: number;
  readonly broken: number;
}

/** How many cases of a coverage matrix were checked. */
export interface Coverage {
  readonly looked: number;
  readonly broken: number;
  /** Covered cells, in the order of the matrix. */
  readonly cells: readonly CellCoverage[];
  /** Documented cells without a case. */
  readonly unseen: readonly DocumentedCell[];
}

export const cellName = ({ of, kind }: Cell): string => `${of} ${kind}`;
