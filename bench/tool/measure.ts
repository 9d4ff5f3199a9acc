import { performance } from "node:perf_hooks";

import { messageOf } from "../../src/base/errors.ts";
import type { BenchRow, OpenRow, WorkSize, ComparedValue } from "./row.ts";
import { median } from "../../src/base/statistics/samples.ts";
import type { Measurement } from "../measuring/measurement.ts";

export type MeasuredRow =
  | {
      readonly kind: "measured";
      readonly row: BenchRow;
      readonly rounds: readonly MeasuredRound[];
      readonly result: RowResult;
      readonly seconds: number;
    }
  | { readonly kind: "failed"; readonly row: BenchRow; readonly reason: string; readonly seconds: number };

/** Measures one row of the benchmark in several rounds. Returns an error as a result of the kind `failed`. */
export async function measureRow(row: BenchRow, size: WorkSize, wantedRounds: number): Promise<MeasuredRow> {
  const startedMs = performance.now();
  const count = Math.min(wantedRounds, row.maxRounds ?? wantedRounds);
  const seconds = (): number => (performance.now() - startedMs) / 1000;
  try {
    const rounds = await measureRounds(row, size, count);
    return { kind: "measured", row, rounds, result: summarizeRounds(row.compared, rounds), seconds: seconds() };
  } catch (error) {
    return { kind: "failed", row, reason: messageOf(error), seconds: seconds() };
  }
}

async function measureRounds(row: BenchRow, size: WorkSize, count: number): Promise<MeasuredRound[]> {
  const sides = await row.open(size);
  try {
    // Warms up with an extra round, and drops its result. If `count` is 1, the extra round would double the time.
    if (count > 1) await measureRound(sides, 0);
    const rounds: MeasuredRound[] = [];
    for (let round = 0; round < count; round += 1) rounds.push(await measureRound(sides, round));
    return rounds;
  } finally {
    await sides.close();
  }
}

async function measureRound(
  { subject, baseline }: Pick<OpenRow, "subject" | "baseline">,
  round: number,
): Promise<MeasuredRound> {
  const first = firstInRound(round);
  if (first === "baseline") {
    const took = await baseline();
    return { first, baseline: took, subject: await subject() };
  }
  const took = await subject();
  return { first, subject: took, baseline: await baseline() };
}

interface MeasuredRound {
  readonly first: "subject" | "baseline";
  readonly subject: Measurement;
  readonly baseline: Measurement;
}

interface RowResult {
  /** Median times and memory of the subject, over all rounds. */
  readonly subject: Measurement;
  readonly baseline: Measurement;
  /** Median ratio of subject to baseline, over all rounds. */
  readonly ratio: number;
  readonly lowestRatio: number;
  readonly highestRatio: number;
  readonly cpuRatio: number;
}

/** Returns which side a round measures first. Subject and baseline take turns, because a warm machine may be faster. */
const firstInRound = (round: number): MeasuredRound["first"] => (round % 2 === 0 ? "baseline" : "subject");

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

/** Returns subject / baseline. For a rate, divides the baseline's time by the subject's time. */
export function ratioOf(compared: ComparedValue, subject: Measurement, baseline: Measurement): number {
  return compared === "rate"
    ? quotient(baseline.wallMs, subject.wallMs)
    : quotient(comparedValue(compared, subject), comparedValue(compared, baseline));
}

export function comparedValue(compared: ComparedValue, { wallMs, cpuMs, bytes }: Measurement): number {
  if (compared === "CPU time") return cpuMs;
  if (compared !== "memory") return wallMs;
  if (bytes === null) throw new Error("a row of memory did not measure its memory");
  return bytes;
}

/** The smallest divisor of a ratio. Dividing by a measured zero would make the ratio infinite. */
const minDivisor = 1e-6;

const quotient = (one: number, other: number): number => one / Math.max(other, minDivisor);

function medianOf(measurements: readonly Measurement[]): Measurement {
  const bytes = measurements.flatMap((each) => each.bytes ?? []);
  return {
    wallMs: median(measurements.map(({ wallMs }) => wallMs)),
    cpuMs: median(measurements.map(({ cpuMs }) => cpuMs)),
    bytes: bytes.length === 0 ? null : median(bytes),
  };
}
