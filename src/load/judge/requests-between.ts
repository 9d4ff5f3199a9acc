import { slotsExplain } from "../../rules/limits/admission/slots.ts";
import { countBelow, countUpTo, sortedBy } from "../../base/sorted.ts";
import type { KeyFacts, LoadFacts } from "./facts.ts";
import { isAdmitted, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** Which refusals cannot have been for a slot: too few requests were under way, or may still have held theirs. */
export function cannotBeConcurrency({ main, second, limits }: LoadFacts): (refusal: SampledRequest) => boolean {
  const uses = new Map(
    [main, ...(second === null ? [] : [second])].map((use) => [
      use.key as string,
      notForSlotsOf(use, limits.concurrent),
    ]),
  );
  return (refusal) => uses.get(refusal.key)?.(refusal) ?? false;
}

function notForSlotsOf(use: KeyFacts, concurrent: number): (refusal: SampledRequest) => boolean {
  const decisions = new Map(use.history.decisions.map((decision) => [decision.id, decision]));
  const explains = slotsExplain(use.history, concurrent, use.options, new Set());
  const starts = sortedBy(use.sent, ({ sentMs }) => sentMs);
  const ends = sortedBy(use.sent, ({ headMs }) => headMs);
  return (refusal) => {
    const decision = decisions.get(refusal.id);
    const underWay = countUpTo(starts, refusal.headMs) - countBelow(ends, refusal.sentMs);
    return decision !== undefined && underWay <= concurrent && !explains(decision);
  };
}

/** How many requests of a key were decided between two answers. */
export interface RequestsBetween {
  /** Those that may have counted, the later one included. */
  readonly max: (from: SampledRequest, to: SampledRequest) => number;
  /** Admitted requests that certainly were decided after the one and not after the other, which is included where it was admitted. */
  readonly min: (from: SampledRequest, to: SampledRequest) => number;
}

export function countRequestsBetween(sent: readonly SampledRequest[]): RequestsBetween {
  const countable = sent.filter(({ kind }) => kind !== "health");
  const starts = sortedBy(countable, ({ sentMs }) => sentMs);
  const ends = sortedBy(countable, ({ headMs, status }) => (status === null ? Infinity : headMs));
  const admitted = sent.filter((each) => isAgentCall(each) && isAdmitted(each));
  const sentAt = sortedBy(admitted, ({ sentMs }) => sentMs);
  const answeredAt = sortedBy(admitted, ({ headMs }) => headMs);
  return {
    max: (from, to) => countUpTo(starts, to.headMs) - countBelow(ends, from.sentMs) - (isCountable(from) ? 1 : 0),
    min: (from, to) => {
      const whole = countBelow(answeredAt, to.sentMs) - countUpTo(sentAt, from.headMs);
      return Math.max(0, whole) + (isAgentCall(to) && isAdmitted(to) && to.sentMs >= from.headMs ? 1 : 0);
    },
  };
}

const isCountable = ({ kind }: SampledRequest): boolean => kind !== "health";
