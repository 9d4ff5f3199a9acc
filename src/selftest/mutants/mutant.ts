import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ClauseId } from "../../spec/clauses.ts";

/** What stands in the place of exchanges and deliveries, by their id; `null` in the place of one that is taken out. */
export interface Replacement {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly deliveries: ReadonlyMap<string, Delivery | null>;
}

/**
 * Whether a change breaks the document.
 *
 * - `wrong`: it does; a clause must turn red.
 * - `legal`: it does not; no outcome may change.
 */
export type MutantKind = "wrong" | "legal";

/** One change of the evidence of a clean run, as if the server had answered so. */
export interface Mutant {
  readonly kind: MutantKind;
  /** What is done: "a required field is left out". */
  readonly operator: string;
  /** Where: an endpoint and a status, `stream events`, or `deliveries`. */
  readonly place: string;
  /** The header, field or event that it is done to. */
  readonly subject: string;
  /** The exchange or delivery; of several, the first. */
  readonly id: string;
  /** Clauses that speak of it, by the document's tables: of a wrong one, one of these must turn red. */
  readonly expects: readonly ClauseId[];
  readonly make: () => Replacement;
}

const none = new Map<string, never>();

export const inPlaceOf = (...exchanges: readonly Exchange[]): Replacement => ({
  exchanges: new Map(exchanges.map((each) => [each.id, each])),
  deliveries: none,
});

export const inPlaceOfDeliveries = (...deliveries: readonly Delivery[]): Replacement => ({
  exchanges: none,
  deliveries: new Map(deliveries.map((each) => [each.id, each])),
});

export const withoutDelivery = ({ id }: Delivery): Replacement => ({
  exchanges: none,
  deliveries: new Map([[id, null]]),
});
