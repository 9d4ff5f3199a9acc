import type { Measurement } from "../measuring/measurement.ts";
import type { RowGoal } from "./goal.ts";

/**
 * The value that a row compares. `rate` is work per second: the inverse of the time, as both sides do the same work.
 */
export type ComparedValue = "wall time" | "CPU time" | "rate" | "memory";

/** Does all work of the subject or the baseline once, and returns the time and the memory. */
export type MeasureSide = () => Promise<Measurement>;

/** A row whose servers are running, so that no measurement includes their start. */
export interface OpenRow {
  readonly subject: MeasureSide;
  readonly baseline: MeasureSide;
  readonly close: () => Promise<void>;
}

/** How much work each measurement of a row does. */
export interface WorkSize {
  /**
   * Scales a full number of requests, keys or lines; at least 1. Published figures have the scale 1; tests of the bench
   * have 0.01.
   */
  readonly of: (full: number) => number;
  /** Whether the scale is 1, as for published figures. */
  readonly isFull: boolean;
}

/** A row of the bench: it compares a subject, such as the limiter, with a baseline, such as a Map look-up. */
export interface BenchRow {
  /** The name for `--only`. It begins with the name of the row's family, such as `start`. */
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly compared: ComparedValue;
  readonly goal: RowGoal;
  /** Maximum number of rounds, if more rounds would take too long; `null` for as many as the user requests. */
  readonly maxRounds: number | null;
  readonly open: (size: WorkSize) => Promise<OpenRow>;
}

/** Maximum number of rounds of a row whose measurements take many seconds each. */
export const maxLongRounds = 3;

export const sizeOf = (scale: number): WorkSize => ({
  of: (full) => Math.max(1, Math.round(full * scale)),
  isFull: scale === 1,
});

export const nothingToClose = (): Promise<void> => Promise.resolve();
