import { performance } from "node:perf_hooks";

import { messageOf } from "../../src/base/errors.ts";
import { firstOf, type Result, resultOf, type Round } from "./arithmetic.ts";
import type { Row, Sides, Size } from "./row.ts";

/** The measurements of a row, or why the row could not be measured. */
export type Measured =
  | {
      readonly kind: "measured";
      readonly row: Row;
      readonly rounds: readonly Round[];
      readonly result: Result;
      readonly seconds: number;
    }
  | { readonly kind: "failed"; readonly row: Row; readonly reason: string; readonly seconds: number };

/**
 * Measures one row: starts its servers, warms up, then measures subject and baseline in each round. An error becomes part of the result, so
 * that it does not stop the other rows.
 */
export async function measure(row: Row, size: Size, wanted: number): Promise<Measured> {
  const startedMs = performance.now();
  const count = Math.min(wanted, row.mostRounds ?? wanted);
  const seconds = (): number => (performance.now() - startedMs) / 1000;
  try {
    const rounds = await roundsOf(row, size, count);
    return { kind: "measured", row, rounds, result: resultOf(row.compared, rounds), seconds: seconds() };
  } catch (error) {
    return { kind: "failed", row, reason: messageOf(error), seconds: seconds() };
  }
}

async function roundsOf(row: Row, size: Size, count: number): Promise<Round[]> {
  const sides = await row.open(size);
  try {
    // Warms up with a round that does not count. Rows with a single round are too slow for that.
    if (count > 1) await roundOf(sides, 0);
    const rounds: Round[] = [];
    for (let round = 0; round < count; round += 1) rounds.push(await roundOf(sides, round));
    return rounds;
  } finally {
    await sides.close();
  }
}

/** Measures subject and baseline one after the other, never at the same time. */
export async function roundOf(
  { subject, baseline }: Pick<Sides, "subject" | "baseline">,
  round: number,
): Promise<Round> {
  const first = firstOf(round);
  if (first === "baseline") {
    const took = await baseline();
    return { first, baseline: took, subject: await subject() };
  }
  const took = await subject();
  return { first, subject: took, baseline: await baseline() };
}
