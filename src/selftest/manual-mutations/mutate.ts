import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ProbeResults } from "../../run/judge/judge.ts";
import { replaceEvidence } from "../mutants/replacing.ts";

/** One thing that a server may have done otherwise, in what a run recorded of it. What it does not concern comes back as it is. */
export interface ManualMutation {
  readonly exchange?: (exchange: Exchange) => Exchange;
  readonly delivery?: (delivery: Delivery) => Delivery;
}

/** What a run recorded. */
export interface Recorded {
  readonly results: ProbeResults;
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
}

/**
 * What a run would have recorded of a server that does one thing otherwise: checks are pure, so that the server need not run. What
 * probes would have sent upon it stays as it was.
 */
export const mutatedResults = (
  { results, exchanges, deliveries }: Recorded,
  { exchange, delivery }: ManualMutation,
): ProbeResults =>
  replaceEvidence(results, new Set(results.keys()), {
    exchanges: changedBy(exchange, exchanges),
    deliveries: changedBy(delivery, deliveries),
  });

const changedBy = <T extends { readonly id: string }>(change: ((item: T) => T) | undefined, items: readonly T[]) =>
  new Map(change === undefined ? [] : items.map((each) => [each.id, change(each)]));
