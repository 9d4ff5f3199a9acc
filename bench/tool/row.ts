import type { Took } from "../measuring/took.ts";
import type { Goal } from "./goal.ts";

/** What of a go is compared. `rate` is work in a second: both sides do the same work, so that it is the time turned round. */
export type Compared = "wall time" | "CPU time" | "rate" | "memory";

/** One go of a side: it does the whole of its work once, and says what that took. */
export type Side = () => Promise<Took>;

/** What is measured, and what it is held against. Both are as warm as in real use before the first round. */
export interface Sides {
  readonly subject: Side;
  readonly baseline: Side;
  readonly close: () => Promise<void>;
}

/** How much work a row does. */
export interface Size {
  /** So many of a row's requests, keys or lines; at least one. 1 is what the figures are made of, 0.01 tries the bench itself. */
  readonly of: (full: number) => number;
  /** Whether it is the full size. */
  readonly isFull: boolean;
}

/** A row of the table: data, and how to open its two sides. */
export interface Row {
  /** What `--only` names; lower-case letters, digits and `-`, a family's name first. */
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly compared: Compared;
  readonly goal: Goal;
  /** More rounds would take too long; `null`: as many as were asked for. */
  readonly mostRounds: number | null;
  readonly open: (size: Size) => Promise<Sides>;
}

/** Most rounds of a row whose goes take many seconds. */
export const longGoes = 3;

export const sizeOf = (scale: number): Size => ({
  of: (full) => Math.max(1, Math.round(full * scale)),
  isFull: scale === 1,
});

export const nothingToClose = (): Promise<void> => Promise.resolve();
