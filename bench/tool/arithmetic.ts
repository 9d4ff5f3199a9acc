import { median } from "../../src/base/statistics/quantile.ts";
import type { Measurement } from "../measuring/measurement.ts";
import type { ComparedValue } from "./row.ts";

/** One round: a measurement of the subject and one of the baseline, and which of them came first. */
export interface MeasuredRound {
  readonly first: "subject" | "baseline";
  readonly subject: Measurement;
  readonly baseline: Measurement;
}

/** The result of all rounds of a row. */
export interface RowResult {
  /** Medians of the rounds. */
  readonly subject: Measurement;
  readonly baseline: Measurement;
  /**
   * Median of the ratios of all rounds. A ratio stays comparable while the machine is slow, because that affects both
   * measurements of a round.
   */
  readonly ratio: number;
  readonly lowestRatio: number;
  readonly highestRatio: number;
  /** Median of the ratios of CPU times. Every row has this ratio, even if the row compares something else. */
  readonly cpuRatio: number;
}

/**
 * Returns which side is measured first in a round. The order alternates, so that neither side always finds the machine
 * warmer.
 */
export const firstInRound = (round: number): MeasuredRound["first"] => (round % 2 === 0 ? "baseline" : "subject");

/**
 * Summarizes the rounds of a row.
 *
 * @throws {Error} if the row compares memory, but a measurement has none
 */
export function summarizeRounds(compared: ComparedValue, rounds: readonly MeasuredRound[]): RowResult {
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

/**
 * Returns the ratio of subject to baseline. A rate is the inverse of a time, so for rates the ratio of times is
 * inverted.
 */
export function ratioOf(compared: ComparedValue, subject: Measurement, baseline: Measurement): number {
  return compared === "rate"
    ? quotient(baseline.wallMs, subject.wallMs)
    : quotient(comparedValue(compared, subject), comparedValue(compared, baseline));
}

/** Returns the value of a measurement that the row compares, in milliseconds or bytes. */
export function comparedValue(compared: ComparedValue, { wallMs, cpuMs, bytes }: Measurement): number {
  if (compared === "CPU time") return cpuMs;
  if (compared !== "memory") return wallMs;
  if (bytes === null) throw new Error("a row of memory did not measure its memory");
  return bytes;
}

/** The smallest divisor of a ratio. Dividing by a measured zero would make the ratio infinite. */
const minDivisor = 1e-6;

const quotient = (one: number, other: number): number => one / Math.max(other, minDivisor);

function medianOf(runs: readonly Measurement[]): Measurement {
  const bytes = runs.flatMap((go) => go.bytes ?? []);
  return {
    wallMs: median(runs.map(({ wallMs }) => wallMs)),
    cpuMs: median(runs.map(({ cpuMs }) => cpuMs)),
    bytes: bytes.length === 0 ? null : median(bytes),
  };
}
