import { defaultCoverageSeed } from "../../run/plan/coverage-seed.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import { reasonOverBudget } from "../../run/plan/request-budget.ts";
import type { LimitTest } from "../../run/probe.ts";
import { type Enabler, type Messages, needsMoreTime } from "../../run/skip-reason.ts";
import { expectedPairs } from "../../suites/coverage/expected.ts";
import type { CutPairs } from "../../suites/coverage/plan.ts";
import { cornersRequested } from "../../suites/coverage/probe.ts";
import type { Target } from "../../target/target.ts";

/** How many pairs or triples of request properties a run will combine, and what would enable the others. */
export interface PlannedPairCounts {
  readonly covered: number;
  readonly total: number;
  /** Lines of the target file, or flags, that would enable more of them. Sorted by their number, largest first. */
  readonly cut: readonly { readonly needs: string; readonly pairs: number }[];
}

/** How many pairs of request properties a run will combine, and how many triples of endpoint, kind of key and state. */
export interface PairsAhead extends PlannedPairCounts {
  /**
   * Whether the run may combine more pairs than counted here: its ordinary requests count as well, and its bounds may leave room for more.
   */
  readonly isMinimum: boolean;
  readonly triples: PlannedPairCounts | null;
  /** Seed of the randomly generated requests. */
  readonly seed: number;
}

interface AheadInput {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly coverageSeed?: number | undefined;
  /** Probes that would be skipped, because they wait longer than the rest of the maximum wait. */
  readonly short: ReadonlySet<PlannedProbe>;
  readonly maxRequests: number;
  readonly maxExecutions: number | null;
  /** Number of discovery requests, which precede all others. */
  readonly discoveryRequests: number;
  readonly messages: Messages;
}

/**
 * Counts the pairs of request properties that a run will combine. Returns `null` if the selected checks need no generated requests.
 *
 * @param planned the probes in the order in which the run starts them
 */
export function pairsAhead(planned: readonly PlannedProbe[], input: AheadInput): PairsAhead | null {
  const at = planned.findIndex(({ probe }) => probe === cornersRequested);
  if (at === -1) return null;
  const { target, readOnly, messages, coverageSeed: seed = defaultCoverageSeed } = input;
  const inWords = (cut: readonly CutPairs[]): PlannedPairCounts["cut"] =>
    cut.map(({ needs, pairs }) => ({ needs: messages.needs(needs), pairs }));
  const { coveredCount, total, cut, triples } = expectedPairs({
    target,
    readOnly,
    seed,
    ...budgetAhead(planned.slice(0, at), input),
  });
  return {
    covered: coveredCount,
    total,
    cut: inWords(cut),
    isMinimum: target.clock === null || cut.some(({ needs }) => isBound(needs)),
    triples: triples === undefined ? null : { ...triples, cut: inWords(triples.cut) },
    seed,
  };
}

/** Whether pairs are left out because of the run's limit of requests or of executions. How many fit depends on the responses. */
const isBound = (needs: Enabler): boolean =>
  typeof needs === "object" && "need" in needs && (needs.need === "maxRequests" || needs.need === "maxExecutions");

/** A run sends at most this many times the planned number of requests. Refused, health and other uncounted requests are not planned. */
const uncountedFactor = 1.15;

/** The rest of the run's bounds for the generated requests, and the results of the probes before that use up a limit. */
interface BudgetAhead {
  readonly left: { readonly requests: number; readonly executions: number };
  readonly tested: readonly LimitTest[];
}

/** Walks through the probes in their order. A probe that does not fit into what is left is skipped, as in a run. */
function budgetAhead(before: readonly PlannedProbe[], input: AheadInput): BudgetAhead {
  const { maxRequests, maxExecutions, discoveryRequests, short } = input;
  let left = { requests: maxRequests - discoveryRequests, executions: maxExecutions ?? Number.POSITIVE_INFINITY };
  const tested: LimitTest[] = [];
  for (const planned of before) {
    const { skip, requests, executions } = planned;
    const use = { requests: uncountedFactor * requests, executions };
    const skipped = skip?.needs ?? (short.has(planned) ? needsMoreTime : reasonOverBudget(use, left)?.needs) ?? null;
    const isSkipped = skip !== null || skipped !== null;
    tested.push(...limitTestOf(planned, isSkipped ? { kind: "skipped", needs: skipped } : { kind: "ran" }));
    if (!isSkipped) left = { requests: left.requests - use.requests, executions: left.executions - use.executions };
  }
  return { left, tested };
}

/** Empty if the probe uses up no limit. */
const limitTestOf = ({ probe: { usesUp: state }, tested }: PlannedProbe, result: LimitTest["result"]): LimitTest[] =>
  state === undefined ? [] : [{ state, tier: tested?.tier ?? null, result }];
