import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ProbeResults } from "../../run/judge/judge.ts";
import { replaceEvidence } from "../mutants/replacing.ts";

/** One thing that a server does differently, applied to a run's evidence. It returns unaffected parts as they are. */
export interface ManualMutation {
  readonly exchange?: (exchange: Exchange) => Exchange;
  readonly delivery?: (delivery: Delivery) => Delivery;
}

/** The evidence of a run. */
export interface Recorded {
  readonly results: ProbeResults;
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
}

/**
 * Returns the evidence of a server that does one thing differently. Checks are pure, so the server need not run. Requests that probes would have
 * sent in reaction stay as they were.
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
