import type { Enabler, SkipReason } from "../skip-reason.ts";
import type { Probe } from "../probe.ts";

/** A group of similar messages, such as all `invoke` responses with status 200, or all events of one name. */
export interface Cell {
  /** The source of the messages: an endpoint's name, `stream events` or `deliveries received`. */
  readonly of: string;
  /** The status, event name or delivery type of all messages in the group. */
  readonly kind: string;
}

export interface DocumentedCell extends Cell {
  /** The setting that the run needs to get messages of this kind; `null` if none is needed. */
  readonly reach: Enabler | null;
}

/** The messages to which a clause applies. Each cell is a group of messages, such as all 404 responses to `invoke`. */
export interface CoverageMatrix {
  readonly description: string;
  readonly cells: readonly DocumentedCell[];
  readonly coverageProbe: Probe<UncoveredCells> | null;
}

export interface UncoveredCells {
  /** Cells for which the probe could not send a request, each with the reason. */
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
