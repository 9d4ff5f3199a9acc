import type { Measurement } from "../measuring/measurement.ts";
import { globOf } from "../../src/base/text.ts";

/** The value that a row compares. `rate` is work per second. */
export type ComparedValue = "wall time" | "CPU time" | "rate" | "memory";

/** Does all work of the subject or the baseline once. Returns the time and memory that it took. */
export type MeasureSide = () => Promise<Measurement>;

/** A row whose servers are running, so that no measurement includes their start. */
export interface OpenRow {
  readonly subject: MeasureSide;
  readonly baseline: MeasureSide;
  readonly close: () => Promise<void>;
}

/** How much work each measurement of a row does. */
export interface WorkSize {
  /** Multiplies a number of requests, keys or lines by the scale of the bench run. Returns at least 1. */
  readonly of: (full: number) => number;
  /** Whether the whole amount of work is measured (scale 1), as for published figures. */
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

/** The goal of a row: a bound for its ratio to the baseline, or a bound for the subject itself. */
export type RowGoal =
  | { readonly of: "ratio"; readonly is: "at most" | "at least"; readonly value: number }
  /** A maximum for the subject alone: in bytes if the row compares memory, otherwise in milliseconds. */
  | { readonly of: "subject"; readonly is: "at most"; readonly value: number }
  /** No goal: the row only helps to compare other rows. */
  | { readonly of: "nothing" };

export const maxRatio = (value: number): RowGoal => ({ of: "ratio", is: "at most", value });
export const minRatio = (value: number): RowGoal => ({ of: "ratio", is: "at least", value });
export const maxSubject = (value: number): RowGoal => ({ of: "subject", is: "at most", value });
export const noGoal: RowGoal = { of: "nothing" };

/** Whether a row meets its goal; `null` if it has none. */
export function isGoalMet(
  goal: RowGoal,
  { ratio, subject }: { readonly ratio: number; readonly subject: number },
): boolean | null {
  switch (goal.of) {
    case "nothing":
      return null;
    case "subject":
      return subject <= goal.value;
    case "ratio":
      return goal.is === "at most" ? ratio <= goal.value : ratio >= goal.value;
  }
}

/** Chooses rows by name, pattern or family (the first part of a name, such as `start`); without names, all. */
export function chooseRows(rows: readonly BenchRow[], names: readonly string[]): readonly BenchRow[] {
  const fits = (row: BenchRow, name: string): boolean =>
    [name, `${name}-*`].some((pattern) => globOf(pattern)(row.name));
  const unknown = names.find((name) => !rows.some((row) => fits(row, name)));
  if (unknown !== undefined) throw new Error(`There is no row "${unknown}": \`npm run bench -- --list\` names them.`);
  return names.length === 0 ? rows : rows.filter((row) => names.some((name) => fits(row, name)));
}
