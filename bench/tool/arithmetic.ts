import { median } from "../../src/base/statistics/quantile.ts";
import type { Measurement } from "../measuring/measurement.ts";
import type { Compared } from "./row.ts";

/** Both sides of one round, and which one ran first. */
export interface Round {
  readonly first: "subject" | "baseline";
  readonly subject: Measurement;
  readonly baseline: Measurement;
}

/** The result of the rounds of a row. */
export interface Result {
  /** Medians of the rounds. */
  readonly subject: Measurement;
  readonly baseline: Measurement;
  /** Median of the ratios of the rounds: a temporary slowdown of the machine affects both sides of a round. */
  readonly ratio: number;
  readonly lowestRatio: number;
  readonly highestRatio: number;
  /** The ratio of CPU times, in every row. */
  readonly cpuRatio: number;
}

/** The side that runs first in a round. The sides alternate, so that neither always finds the machine warmer. */
export const firstOf = (round: number): Round["first"] => (round % 2 === 0 ? "baseline" : "subject");

/**
 * Summarizes the rounds of a row.
 *
 * @throws {Error} if a row of memory has no memory measurement
 */
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

/** Subject divided by baseline. For rates the times are swapped. */
export function ratioOf(compared: Compared, subject: Measurement, baseline: Measurement): number {
  return compared === "rate"
    ? quotient(baseline.wallMs, subject.wallMs)
    : quotient(figureOf(compared, subject), figureOf(compared, baseline));
}

/** Returns the measured value that a row of the bench table compares, in milliseconds or bytes. */
export function figureOf(compared: Compared, { wallMs, cpuMs, bytes }: Measurement): number {
  if (compared === "CPU time") return cpuMs;
  if (compared !== "memory") return wallMs;
  if (bytes === null) throw new Error("a row of memory did not measure its memory");
  return bytes;
}

/** Lower bound of a divisor: a ratio to zero would be meaningless. */
const minMeasured = 1e-6;

const quotient = (one: number, other: number): number => one / Math.max(other, minMeasured);

function medianOf(runs: readonly Measurement[]): Measurement {
  const bytes = runs.flatMap((go) => go.bytes ?? []);
  return {
    wallMs: median(runs.map(({ wallMs }) => wallMs)),
    cpuMs: median(runs.map(({ cpuMs }) => cpuMs)),
    bytes: bytes.length === 0 ? null : median(bytes),
  };
}
