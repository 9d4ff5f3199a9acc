import type { Enabler, SkipReason } from "../skip-reason.ts";
import type { Probe } from "../probe.ts";

/** A group of similar messages, such as all `invoke` responses with status 200, or all events of one name. */
export interface Cell {
  /** The source of the messages: an endpoint's name, `stream events` or `deliveries received`. */
  readonly of: string;
  /** The status, event name or delivery type that all messages of the cell share. */
  readonly kind: string;
}

export interface DocumentedCell extends Cell {
  /** The setting that the user must make to get such messages; `null` if no setting is needed. */
  readonly reach: Enabler | null;
}

/** All messages to which a clause applies, grouped into cells. */
export interface CoverageMatrix {
  readonly description: string;
  readonly cells: readonly DocumentedCell[];
  /** The probe that runs last. It sends requests for cells that still have no message. */
  readonly coverageProbe: Probe<UncoveredCells> | null;
}

/** The evidence of a probe that sends requests for cells without a message. */
export interface UncoveredCells {
  /** The cells that still have no message, and why. */
  readonly left: readonly (Cell & { readonly why: SkipReason })[];
}

/** Counts of the judged messages in one cell. `broken`: those that break the clause. */
export interface CellCoverage extends Cell {
  readonly looked: number;
  readonly broken: number;
}

/** How many messages a check judged, and how many of them break the clause. */
export interface Coverage {
  readonly looked: number;
  readonly broken: number;
  readonly cells: readonly CellCoverage[];
  readonly unseen: readonly DocumentedCell[];
}

export const cellName = ({ of, kind }: Cell): string => `${of} ${kind}`;
