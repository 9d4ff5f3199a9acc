import { sumOf } from "../../base/numbers.ts";
import { defaultCoverageSeed } from "../../run/plan/coverage-seed.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import { executionsOf, type LimitTest } from "../../run/probe.ts";
import { type Enabler, type Messages, moreTime, need } from "../../run/skip-reason.ts";
import { expectedPairs } from "../../suites/coverage/expected.ts";
import type { CutPairs } from "../../suites/coverage/plan.ts";
import { cornersRequested } from "../../suites/coverage/probe.ts";
import type { Target } from "../../target/target.ts";

/** How many combinations of request properties a run will send, and what would bring the others. */
export interface CountsAhead {
  readonly covered: number;
  readonly total: number;
  /** Lines of the target file, or flags, with the number of combinations that each would bring, the most first. */
  readonly cut: readonly { readonly needs: string; readonly pairs: number }[];
}

/** The pairs of request properties that a run will combine, and the triples of endpoint, kind of key and state. */
export interface PairsAhead extends CountsAhead {
  /** Whether the run may cover more: its other requests count, too, and more may fit into its bounds. */
  readonly isMinimum: boolean;
  readonly triples: CountsAhead | null;
  /** Seed of the generated requests. */
  readonly seed: number;
}

interface AheadInput {
  readonly target: Target;
  readonly readOnly: boolean;
  readonly coverageSeed?: number | undefined;
  /** Probes that would be skipped, because too little of the maximum wait is left for them. */
  readonly short: ReadonlySet<PlannedProbe>;
  readonly maxRequests: number;
  readonly maxExecutions: number | null;
  /** Requests of discovery, which come first. */
  readonly discoveryRequests: number;
  readonly messages: Messages;
}

/**
 * Counts the pairs ahead of a run. Returns `null` if the selected checks need no generated requests.
 *
 * @param planned in the order in which the run sends them
 */
export function pairsAhead(planned: readonly PlannedProbe[], input: AheadInput): PairsAhead | null {
  const at = planned.findIndex(({ probe }) => probe === cornersRequested);
  if (at === -1) return null;
  const { target, readOnly, messages, coverageSeed: seed = defaultCoverageSeed } = input;
  const before = planned.slice(0, at);
  const inWords = (cut: readonly CutPairs[]): CountsAhead["cut"] =>
    cut.map(({ needs, pairs }) => ({ needs: messages.needs(needs), pairs }));
  const { coveredCount, total, cut, triples } = expectedPairs({
    target,
    readOnly,
    seed,
    tested: before.flatMap((each, index) => limitTestOf(each, before.slice(0, index), input)),
    left: { requests: requestsLeft(before, input), executions: executionsLeft(before, input) },
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

/** Whether a bound of the run cuts pairs. Which requests fit into it depends on the target's responses. */
const isBound = (needs: Enabler): boolean =>
  typeof needs === "object" && "need" in needs && (needs.need === "maxRequests" || needs.need === "maxExecutions");

const isSent = (each: PlannedProbe, short: AheadInput["short"]): boolean => each.skip === null && !short.has(each);

/** A run sends up to this many times the planned requests: refusals, health and other uncounted requests come in addition. */
const uncountedFactor = 1.15;

const requestsLeft = (before: readonly PlannedProbe[], { maxRequests, discoveryRequests, short }: AheadInput): number =>
  maxRequests -
  discoveryRequests -
  uncountedFactor * sumOf(before.filter((each) => isSent(each, short)).map(({ requests }) => requests));

function executionsLeft(before: readonly PlannedProbe[], { maxExecutions, target, short }: AheadInput): number {
  if (maxExecutions === null) return Number.POSITIVE_INFINITY;
  const sent = before.filter((each) => isSent(each, short));
  return maxExecutions - sumOf(sent.map(({ probe, tested }) => executionsOf(probe, tested, target)));
}

/** Returns whether a probe will use up its limit, or what the probe needs for it. Empty if the probe uses up no limit. */
function limitTestOf(planned: PlannedProbe, before: readonly PlannedProbe[], input: AheadInput): LimitTest[] {
  const { probe, tested, skip } = planned;
  const { usesUp: state } = probe;
  if (state === undefined) return [];
  const as = (result: LimitTest["result"]): LimitTest[] => [{ state, tier: tested?.tier ?? null, result }];
  if (skip !== null) return as({ kind: "skipped", needs: skip.needs });
  if (input.short.has(planned)) return as({ kind: "skipped", needs: moreTime });
  if (requestsLeft([...before, planned], input) < 0) return as({ kind: "skipped", needs: need("maxRequests") });
  if (executionsLeft([...before, planned], input) < 0) return as({ kind: "skipped", needs: need("maxExecutions") });
  return as({ kind: "ran" });
}
