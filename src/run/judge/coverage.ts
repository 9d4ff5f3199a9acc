import type { Enabler, SkipReason } from "../skip-reason.ts";
import type { Probe } from "../probe.ts";

/** A part of a universe: answers of one status on one endpoint, events of one name, deliveries of one type. */
export interface Cell {
  /** The endpoint, `stream events` or `deliveries received`. */
  readonly of: string;
  /** The status, the event's name or the delivery's type. */
  readonly kind: string;
}

/** A cell that the document's tables tell of. */
export interface DocumentedCell extends Cell {
  /** What a run needs to see it, besides a key and an agent; `null` where it needs nothing, or nobody can make it come. */
  readonly reach: Enabler | null;
}

/** The set that a sentence of the document speaks of. */
export interface CoverageMatrix {
  /** In words: "every answer 200 of invoke". */
  readonly description: string;
  /** What it is made of, as far as the document's tables tell. */
  readonly cells: readonly DocumentedCell[];
  /** Visits cells that nothing else of a run has visited; `null` where none does. */
  readonly coverageProbe: Probe<UncoveredCells> | null;
}

/** What came of visiting the cells that a run had not seen. */
export interface UncoveredCells {
  /** Cells that were left, and why. */
  readonly left: readonly (Cell & { readonly why: SkipReason })[];
}

/** How much of a cell a run saw. */
export interface CellCoverage extends Cell {
  readonly looked: number;
  readonly broken: number;
}

/** How much of a universe a run saw. */
export interface Coverage {
  readonly looked: number;
  readonly broken: number;
  /** Those of which something was seen, in the order of the universe. */
  readonly cells: readonly CellCoverage[];
  /** Those that the document tells of, and of which nothing was. */
  readonly unseen: readonly DocumentedCell[];
}

export const cellName = ({ of, kind }: Cell): string => `${of} ${kind}`;
