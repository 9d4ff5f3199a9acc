import { performance } from "node:perf_hooks";

import { messageOf } from "../../src/base/errors.ts";
import { firstInRound, type RowResult, summarizeRounds, type MeasuredRound } from "./arithmetic.ts";
import type { BenchRow, OpenRow, WorkSize } from "./row.ts";

/** The measurements of a row, or why the row could not be measured. */
export type MeasuredRow =
  | {
      readonly kind: "measured";
      readonly row: BenchRow;
      readonly rounds: readonly MeasuredRound[];
      readonly result: RowResult;
      readonly seconds: number;
    }
  | { readonly kind: "failed"; readonly row: BenchRow; readonly reason: string; readonly seconds: number };

/**
 * Measures one row: starts its servers, warms up, then measures subject and baseline in each round. An error becomes
 * part of the result, so that it does not stop the other rows.
 */
export async function measureRow(row: BenchRow, size: WorkSize, wanted: number): Promise<MeasuredRow> {
  const startedMs = performance.now();
  const count = Math.min(wanted, row.maxRounds ?? wanted);
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
    // Warms up with a round that does not count, except for rows with a single round, which are too slow for that.
    if (count > 1) await measureRound(sides, 0);
    const rounds: MeasuredRound[] = [];
    for (let round = 0; round < count; round += 1) rounds.push(await measureRound(sides, round));
    return rounds;
  } finally {
    await sides.close();
  }
}

/** Measures subject and baseline one after the other, never at the same time. */
export async function measureRound(
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
