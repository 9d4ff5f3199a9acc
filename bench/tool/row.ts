import type { Measurement } from "../measuring/measurement.ts";
import type { Goal } from "./goal.ts";

/** The compared figure. `rate` is work per second, the inverse of the time, since both sides do the same work. */
export type Compared = "wall time" | "CPU time" | "rate" | "memory";

/** One measurement of a side: does all of the side's work once, and returns its time and memory. */
export type Side = () => Promise<Measurement>;

/** The subject and its baseline. Both are as warm as in real use before the first round. */
export interface Sides {
  readonly subject: Side;
  readonly baseline: Side;
  readonly close: () => Promise<void>;
}

/** How much work a row does. */
export interface Size {
  /** Scales the number of requests, keys or lines of a row, to at least one. Published figures use 1; 0.01 tests the bench itself. */
  readonly of: (full: number) => number;
  /** Whether this is the size of published figures. */
  readonly isFull: boolean;
}

/** A row of the table: data, and how to open its two sides. */
export interface Row {
  /** The name for `--only`: lower-case letters, digits and `-`, beginning with the name of the family. */
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly compared: Compared;
  readonly goal: Goal;
  /** Maximum number of rounds, if more would take too long; `null` for as many as the user wants. */
  readonly mostRounds: number | null;
  readonly open: (size: Size) => Promise<Sides>;
}

/** Maximum number of rounds of a row whose measurements take many seconds. */
export const longGoes = 3;

export const sizeOf = (scale: number): Size => ({
  of: (full) => Math.max(1, Math.round(full * scale)),
  isFull: scale === 1,
});

export const nothingToClose = (): Promise<void> => Promise.resolve();
