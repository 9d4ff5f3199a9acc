import type { Measurement } from "../measuring/measurement.ts";
import { globMatcher } from "../../src/base/text.ts";

/** The value that a row of the benchmark compares. `rate` is work per second. */
export type ComparedValue = "wall time" | "CPU time" | "rate" | "memory";

export type MeasureSide = () => Promise<Measurement>;

/** A benchmark row whose servers are already running, so that measurements do not include the start of servers. */
export interface OpenRow {
  readonly subject: MeasureSide;
  readonly baseline: MeasureSide;
  readonly close: () => Promise<void>;
}

export interface WorkSize {
  /** Multiplies a number of requests, keys or lines by the scale of the bench run. Returns at least 1. */
  readonly of: (full: number) => number;
  readonly isFull: boolean;
}

/** A row of the benchmark: it compares a subject, such as the limiter, with a baseline, such as a Map look-up. */
export interface BenchRow {
  /** The name by which `--only` selects the row. It begins with the row's family, such as `start`. */
  readonly name: string;
  readonly what: string;
  readonly against: string;
  readonly compared: ComparedValue;
  readonly goal: RowGoal;
  /** Maximum number of rounds of a row that takes long; `null`: no maximum. */
  readonly maxRounds: number | null;
  readonly open: (size: WorkSize) => Promise<OpenRow>;
}

export const maxLongRounds = 3;

export const sizeOf = (scale: number): WorkSize => ({
  of: (full) => Math.max(1, Math.round(full * scale)),
  isFull: scale === 1,
});

export const nothingToClose = (): Promise<void> => Promise.resolve();

export type RowGoal =
  | { readonly of: "ratio"; readonly is: "at most" | "at least"; readonly value: number }
  /** The subject's measured value must be at most `value`, in bytes for memory and in milliseconds otherwise. */
  | { readonly of: "subject"; readonly is: "at most"; readonly value: number }
  | { readonly of: "nothing" };

export const maxRatio = (value: number): RowGoal => ({ of: "ratio", is: "at most", value });
export const minRatio = (value: number): RowGoal => ({ of: "ratio", is: "at least", value });
export const maxSubject = (value: number): RowGoal => ({ of: "subject", is: "at most", value });
export const noGoal: RowGoal = { of: "nothing" };

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

/** Chooses rows by name, by pattern, or by family such as `start`. Returns all rows if `names` is empty. */
export function chooseRows(rows: readonly BenchRow[], names: readonly string[]): readonly BenchRow[] {
  const fits = (row: BenchRow, name: string): boolean =>
    [name, `${name}-*`].some((pattern) => globMatcher(pattern)(row.name));
  const unknown = names.find((name) => !rows.some((row) => fits(row, name)));
  if (unknown !== undefined) throw new Error(`There is no row "${unknown}": \`npm run bench -- --list\` names them.`);
  return names.length === 0 ? rows : rows.filter((row) => names.some((name) => fits(row, name)));
}
