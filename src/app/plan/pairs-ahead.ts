import { sumOf } from "../../base/numbers.ts";
import { defaultCoverageSeed } from "../../run/plan/coverage-seed.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import { executionsOf, type LimitTest } from "../../run/probe.ts";
import { type Enabler, type Messages, moreTime, need } from "../../run/skip-reason.ts";
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
  const before = planned.slice(0, at);
  const inWords = (cut: readonly CutPairs[]): PlannedPairCounts["cut"] =>
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

/** Whether pairs are left out because of the run's limit of requests or of executions. How many fit depends on the responses. */
const isBound = (needs: Enabler): boolean =>
  typeof needs === "object" && "need" in needs && (needs.need === "maxRequests" || needs.need === "maxExecutions");

const isSent = (each: PlannedProbe, short: AheadInput["short"]): boolean => each.skip === null && !short.has(each);

/** A run sends at most this many times the planned number of requests. Refused, health and other uncounted requests are not planned. */
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

/** Returns whether a probe will exhaust its rate limit, or what it needs for that. Empty if the probe exhausts no limit. */
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
