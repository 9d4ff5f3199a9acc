import type { Row } from "../../base/covering-array.ts";
import type { LimitTest } from "../../run/probe.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";
import { countPairs, neededForLimit, noResponseNeed, type PairCounts } from "./account.ts";
import { chooseRows, hasFreshKey, runsAgent } from "./choose.ts";
import { reachOf, rowsInState } from "./plan.ts";

/** Facts about a planned run that decide which requests are generated. */
export interface PlannedRun {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly seed: number;
  /** The planned probes that use up a limit, each with whether it will run. */
  readonly tested: readonly LimitTest[];
  /** How many requests and agent executions the run's bounds leave for the generated requests. */
  readonly left: { readonly requests: number; readonly executions: number };
}

/** Counts the pairs that a planned run's generated requests will cover. Its other requests may add some. */
export function expectedPairs({ target, readOnly, seed, tested, left }: PlannedRun): PairCounts {
  const reach = reachOf(target, readOnly);
  const inStates = readOnly ? [] : tested.flatMap((each) => rowsOfTest(each, target, seed));
  const covered = new Set(inStates.flatMap(reach.covering.pairsIn));
  const { all, sent } = chooseRows({ target, reach, covered, known: inStates, seed });
  const dropped = rowsOverBounds(sent, left);
  const answered = [...inStates, ...sent.filter((row) => !dropped.has(row))];
  const [bound = noResponseNeed] = dropped.values();
  const leftOut = all
    .filter((row) => !sent.includes(row))
    .map((row) => [row, hasFreshKey(row) ? need("clock") : neededForLimit(row, target, tested)] as const)
    .map(([row, needs]) => [row, needs === noResponseNeed ? bound : needs] as const);
  // The last row with a pair says why the pair is missing. Rows that a setting would enable tell the user what to do.
  const bySetting = leftOut.toSorted(
    ([, one], [, other]) => Number(one !== noResponseNeed) - Number(other !== noResponseNeed),
  );
  const unanswered = new Map<Row, Enabler | null>([...bySetting, ...dropped]);
  for (const row of answered) for (const name of reach.covering.pairsIn(row)) covered.add(name);
  return countPairs({ target, readOnly, reach, answered, covered, unanswered, tested });
}

/** Returns the rows that a probe sends while a limit is used up. Without a test clock, only the minute's probe does. */
function rowsOfTest({ state, tier, result }: LimitTest, target: Target, seed: number): readonly Row[] {
  if (result.kind !== "ran" || (target.clock === null && state !== "minute used up")) return [];
  return rowsInState(target, { key: tier ?? "near quota", state, seed });
}

/** Returns the rows that exceed a bound of the run, each with the name of that bound. */
function rowsOverBounds(rows: readonly Row[], left: PlannedRun["left"]): ReadonlyMap<Row, Enabler> {
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
