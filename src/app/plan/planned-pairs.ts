import { defaultCoverageSeed } from "../../run/plan/bounds.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import { reasonOverBudget } from "../../run/plan/request-budget.ts";
import type { LimitTest } from "../../run/probe.ts";
import { type Enabler, type Messages, needsMoreTime } from "../../run/skip-reason.ts";
import { expectedPairs } from "../../suites/coverage/account.ts";
import type { CutPairs } from "../../suites/coverage/plan.ts";
import { cornersRequested } from "../../suites/coverage/probe.ts";
import type { Target } from "../../target/target.ts";

/**
 * Counts combinations of request properties, such as endpoint and key. The plan covers `covered` of `total`
 * combinations.
 */
export interface PlannedPairCounts {
  readonly covered: number;
  readonly total: number;
  readonly cut: readonly { readonly needs: string; readonly pairs: number }[];
}

/**
 * Counts pairs of request properties, such as endpoint and key. `triples` counts combinations of endpoint, key and
 * limit state, e.g. `hour used up`.
 */
export interface PlannedPairs extends PlannedPairCounts {
  /** Whether `covered` is a lower bound: the run possibly covers more pairs. */
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
  readonly discoveryRequests: number;
  readonly messages: Messages;
}

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

const needsLargerBudget = (needs: Enabler): boolean =>
  typeof needs === "object" && "need" in needs && (needs.need === "maxRequests" || needs.need === "maxExecutions");

/** A run sends about 15 % more requests than planned. Plans leave out health requests and refused requests. */
const unplannedRequestsFactor = 1.15;

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

const limitTestsOf = ({ probe: { usesUp: state }, tested }: PlannedProbe, result: LimitTest["result"]): LimitTest[] =>
  state === undefined ? [] : [{ state, tier: tested?.tier ?? null, result }];
