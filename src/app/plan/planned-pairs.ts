import { defaultCoverageSeed } from "../../run/plan/bounds.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import { reasonOverBudget } from "../../run/plan/request-budget.ts";
import type { LimitTest } from "../../run/probe.ts";
import { type Enabler, type Messages, needsMoreTime } from "../../run/skip-reason.ts";
import { expectedPairs } from "../../suites/coverage/account.ts";
import type { CutPairs } from "../../suites/coverage/plan.ts";
import { cornersRequested } from "../../suites/coverage/probe.ts";
import type { Target } from "../../target/target.ts";

/** How many pairs (or triples) of request properties a run will try, and what would let it try the rest. */
export interface PlannedPairCounts {
  readonly covered: number;
  readonly total: number;
  /**
   * Settings with which the run would try more pairs: lines of the target file, or flags. The setting that adds the
   * most pairs comes first.
   */
  readonly cut: readonly { readonly needs: string; readonly pairs: number }[];
}

/**
 * The pairs of request properties that a run will try. `triples` counts combinations of three properties: endpoint,
 * kind of key, and state of the key.
 */
export interface PlannedPairs extends PlannedPairCounts {
  /**
   * Whether `covered` is only a minimum. Other requests, or more generated requests than planned, may try further
   * pairs.
   */
  readonly isMinimum: boolean;
  readonly triples: PlannedPairCounts | null;
  readonly seed: number;
}

interface PlannedPairsInput {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly coverageSeed?: number | undefined;
  readonly short: ReadonlySet<PlannedProbe>;
  readonly maxRequests: number;
  readonly maxExecutions: number | null;
  /** Number of requests that discovery sends. They come first, and count against `maxRequests`. */
  readonly discoveryRequests: number;
  readonly messages: Messages;
}

/** Counts the pairs of request properties that generated requests will try; `null` if the run generates none. */
export function countPlannedPairs(planned: readonly PlannedProbe[], input: PlannedPairsInput): PlannedPairs | null {
  const at = planned.findIndex(({ probe }) => probe === cornersRequested);
  if (at === -1) return null;
  const { target, readOnly, messages, coverageSeed: seed = defaultCoverageSeed } = input;
  const inWords = (cut: readonly CutPairs[]): PlannedPairCounts["cut"] =>
    cut.map(({ needs, pairs }) => ({ needs: messages.needs(needs), pairs }));
  const { coveredCount, total, cut, triples } = expectedPairs({
    target,
    readOnly,
    seed,
    ...budgetAfterProbes(planned.slice(0, at), input),
  });
  return {
    covered: coveredCount,
    total,
    cut: inWords(cut),
    isMinimum: target.clock === null || cut.some(({ needs }) => needsLargerBudget(needs)),
    triples: triples === undefined ? null : { ...triples, cut: inWords(triples.cut) },
    seed,
  };
}

/** Whether the missing requirement is a higher `maxRequests` or `maxExecutions`. */
const needsLargerBudget = (needs: Enabler): boolean =>
  typeof needs === "object" && "need" in needs && (needs.need === "maxRequests" || needs.need === "maxExecutions");

/** The plan counts only requests that use up a rate limit. Health requests and refused requests may add up to 15 %. */
const unplannedRequestsFactor = 1.15;

/**
 * Returns the requests and executions that remain after earlier probes, and the results of those probes that test
 * limits. Leaves out the cost of probes that would exceed the budget.
 */
function budgetAfterProbes(before: readonly PlannedProbe[], input: PlannedPairsInput) {
  const { maxRequests, maxExecutions, discoveryRequests, short } = input;
  let left = { requests: maxRequests - discoveryRequests, executions: maxExecutions ?? Number.POSITIVE_INFINITY };
  const tested: LimitTest[] = [];
  for (const planned of before) {
    const { skip, requests, executions } = planned;
    const use = { requests: unplannedRequestsFactor * requests, executions };
    const skipped = skip?.needs ?? (short.has(planned) ? needsMoreTime : reasonOverBudget(use, left)?.needs) ?? null;
    const isSkipped = skip !== null || skipped !== null;
    tested.push(...limitTestsOf(planned, isSkipped ? { kind: "skipped", needs: skipped } : { kind: "ran" }));
    if (!isSkipped) left = { requests: left.requests - use.requests, executions: left.executions - use.executions };
  }
  return { left, tested };
}

/**
 * Returns the `result` of a probe that uses up a limit, as a list of one. For any other probe, returns an empty list.
 */
const limitTestsOf = ({ probe: { usesUp: state }, tested }: PlannedProbe, result: LimitTest["result"]): LimitTest[] =>
  state === undefined ? [] : [{ state, tier: tested?.tier ?? null, result }];
