import type { Measurement } from "../measuring/measurement.ts";
import type { Goal } from "./goal.ts";

/** The value that a row compares. `rate` is work per second. Both measurements do the same work, so the rate is the inverse of the time. */
export type Compared = "wall time" | "CPU time" | "rate" | "memory";

/** Measures the subject or the baseline once: does all of its work, and returns the time and the memory. */
export type Side = () => Promise<Measurement>;

/** The subject of a row and its baseline. Opening them starts their servers, so that no measurement includes that. */
export interface Sides {
  readonly subject: Side;
  readonly baseline: Side;
  readonly close: () => Promise<void>;
}

/** The amount of work of a row. */
export interface Size {
  /** Scales a number of requests, keys or lines, to at least one. The scale is 1 for published figures; 0.01 tests the bench itself. */
  readonly of: (full: number) => number;
  /** Whether the scale is 1, as for published figures. */
  readonly isFull: boolean;
}

/** A row of the bench: it compares a subject, such as the limiter, with a baseline, such as a Map look-up. */
export interface Row {
  /** The name for `--only`: lower-case letters, digits and `-`, beginning with the name of the family. */
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly compared: Compared;
  readonly goal: Goal;
  /** Maximum number of rounds, if more rounds would take too long; `null` for as many as the user requests. */
  readonly mostRounds: number | null;
  readonly open: (size: Size) => Promise<Sides>;
}

/** Maximum number of rounds of a row whose measurements take many seconds each. */
export const maxLongRounds = 3;

export const sizeOf = (scale: number): Size => ({
  of: (full) => Math.max(1, Math.round(full * scale)),
  isFull: scale === 1,
});

export const nothingToClose = (): Promise<void> => Promise.resolve();
