import { median } from "../../src/base/statistics/quantile.ts";
import type { Took } from "../measuring/took.ts";
import type { Compared } from "./row.ts";

/** Both sides of one round, and who went first. */
export interface Round {
  readonly first: "subject" | "baseline";
  readonly subject: Took;
  readonly baseline: Took;
}

/** What the rounds of a row come to. */
export interface Result {
  /** Medians of the rounds. */
  readonly subject: Took;
  readonly baseline: Took;
  /** Median of the rounds' ratios: what slows the machine down for a while slows both sides of a round. */
  readonly ratio: number;
  readonly lowestRatio: number;
  readonly highestRatio: number;
  /** The same of processor time, whatever the row compares. */
  readonly cpuRatio: number;
}

/** Who goes first in a round: they take turns, so that neither always finds the machine warmer. */
export const firstOf = (round: number): Round["first"] => (round % 2 === 0 ? "baseline" : "subject");

/** @throws {Error} where a row of memory has no memory */
export function resultOf(compared: Compared, rounds: readonly Round[]): Result {
  const ratios = rounds.map(({ subject, baseline }) => ratioOf(compared, subject, baseline));
  return {
    subject: medianOf(rounds.map(({ subject }) => subject)),
    baseline: medianOf(rounds.map(({ baseline }) => baseline)),
    ratio: median(ratios),
    lowestRatio: Math.min(...ratios),
    highestRatio: Math.max(...ratios),
    cpuRatio: median(rounds.map(({ subject, baseline }) => quotient(subject.cpuMs, baseline.cpuMs))),
  };
}

/** Subject over baseline; of rates, too, which are work over time. */
export function ratioOf(compared: Compared, subject: Took, baseline: Took): number {
  return compared === "rate"
    ? quotient(baseline.wallMs, subject.wallMs)
    : quotient(figureOf(compared, subject), figureOf(compared, baseline));
}

/** What a row compares: milliseconds, or bytes. */
export function figureOf(compared: Compared, { wallMs, cpuMs, bytes }: Took): number {
  if (compared === "CPU time") return cpuMs;
  if (compared !== "memory") return wallMs;
  if (bytes === null) throw new Error("a row of memory did not look at its memory");
  return bytes;
}

/** Less than can be measured counts as that: a ratio to nothing says nothing. */
const leastMeasured = 1e-6;

const quotient = (one: number, other: number): number => one / Math.max(other, leastMeasured);

function medianOf(goes: readonly Took[]): Took {
  const bytes = goes.flatMap((go) => go.bytes ?? []);
  return {
    wallMs: median(goes.map(({ wallMs }) => wallMs)),
    cpuMs: median(goes.map(({ cpuMs }) => cpuMs)),
    bytes: bytes.length === 0 ? null : median(bytes),
  };
}
