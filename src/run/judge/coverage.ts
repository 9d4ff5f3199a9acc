import type { Enabler, SkipReason } from "../skip-reason.ts";
import type { Probe } from "../probe.ts";

/** A cell of a coverage matrix, such as all responses of invoke with status 200, or all events of one name. */
export interface Cell {
  /** The source of the cases: an endpoint, `stream events` or `deliveries received`. */
  readonly of: string;
  /** The status, event name or delivery type that all cases of the cell have. */
  readonly kind: string;
}

/** A cell that the document lists. */
export interface DocumentedCell extends Cell {
  /**
   * A requirement that the target must meet so that a request can cause this case, apart from a key and an agent.
   * `null` if nothing else is needed, or if no request can cause the case.
   */
  readonly reach: Enabler | null;
}

/** All cells of the cases that a clause covers. */
export interface CoverageMatrix {
  /** Describes the cases that the matrix covers, such as "every response 200 of invoke". */
  readonly description: string;
  /** The cells that the document lists. */
  readonly cells: readonly DocumentedCell[];
  /** The probe that sends requests for cells that no other probe has covered. `null` if there is no such probe. */
  readonly coverageProbe: Probe<UncoveredCells> | null;
}

/** The evidence of a coverage probe. */
export interface UncoveredCells {
  /** Cells that are still uncovered, with the reason. */
  readonly left: readonly (Cell & { readonly why: SkipReason })[];
}

/** How many cases of one cell were checked. `looked`: all of them; `broken`: those that break the clause. */
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
  /** Cells of the document for which no case was recorded. */
  readonly unseen: readonly DocumentedCell[];
}

export const cellName = ({ of, kind }: Cell): string => `${of} ${kind}`;
