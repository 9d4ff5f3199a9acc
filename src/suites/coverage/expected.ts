import type { Row } from "../../base/covering-array.ts";
import type { LimitTest } from "../../run/probe.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";
import { countPairs, neededForLimit, noAnswer, type PairCounts } from "./account.ts";
import { chooseRows, isFresh, runsAgent } from "./choose.ts";
import { reachOf, rowsInState } from "./plan.ts";

/** The facts of a planned run that decide which generated requests it sends. */
export interface PlannedRun {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly seed: number;
  /** The planned probes that use up a limit, each as run or skipped. */
  readonly tested: readonly LimitTest[];
  /** Requests and agent executions that the bounds leave for the generated requests at the end of the run. */
  readonly left: { readonly requests: number; readonly executions: number };
}

/**
 * Counts the pairs and triples that the generated requests of a run will cover. With a test clock, that is all within
 * reach. On a real clock, the other requests of the run add to it.
 */
export function expectedPairs({ target, readOnly, seed, tested, left }: PlannedRun): PairCounts {
  const reach = reachOf(target, readOnly);
  const inStates = readOnly ? [] : tested.flatMap((each) => rowsOfTest(each, target, seed));
  const covered = new Set(inStates.flatMap(reach.covering.pairsIn));
  const { all, sent } = chooseRows({ target, reach, covered, known: inStates, seed });
  const dropped = overBounds(sent, left);
  const answered = [...inStates, ...sent.filter((row) => !dropped.has(row))];
  const [bound = noAnswer] = dropped.values();
  const leftOut = all
    .filter((row) => !sent.includes(row))
    .map((row) => [row, isFresh(row) ? need("clock") : neededForLimit(row, target, tested)] as const)
    .map(([row, needs]) => [row, needs === noAnswer ? bound : needs] as const);
  // If several rows have a pair, the last row decides the reason why the pair is missing. So rows that a setting would
  // enable come last.
  const bySetting = leftOut.toSorted(([, one], [, other]) => Number(one !== noAnswer) - Number(other !== noAnswer));
  const unanswered = new Map<Row, Enabler | null>([...bySetting, ...dropped]);
  for (const row of answered) for (const name of reach.covering.pairsIn(row)) covered.add(name);
  return countPairs({ target, readOnly, reach, answered, covered, unanswered, tested });
}

/** The rows that a probe sends while a limit is used up. Without a test clock, only the minute leaves time for them. */
function rowsOfTest({ state, tier, result }: LimitTest, target: Target, seed: number): readonly Row[] {
  if (result.kind !== "ran" || (target.clock === null && state !== "minute used up")) return [];
  return rowsInState(target, { key: tier ?? "near quota", state, seed });
}

/** The rows that exceed the bounds of the run, each with the bound. */
function overBounds(rows: readonly Row[], left: PlannedRun["left"]): ReadonlyMap<Row, Enabler> {
  const dropped = new Map<Row, Enabler>();
  let [requests, executions] = [0, 0];
  for (const row of rows) {
    const isRun = runsAgent(row);
    if (requests >= left.requests) dropped.set(row, need("maxRequests"));
    else if (isRun && executions >= left.executions) dropped.set(row, need("maxExecutions"));
    else {
      requests += 1;
      executions += Number(isRun);
    }
  }
  return dropped;
}
