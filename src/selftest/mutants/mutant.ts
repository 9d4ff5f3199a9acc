import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ClauseId } from "../../spec/clauses.ts";

/** Replacements of exchanges and deliveries, by their id; `null` removes a delivery. */
export interface Replacement {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly deliveries: ReadonlyMap<string, Delivery | null>;
}

/**
 * Whether a change breaks the document.
 *
 * - `illegal`: it does; a clause must turn red.
 * - `legal`: it does not; no outcome may change.
 */
type MutantKind = "illegal" | "legal";

/** One change of a clean run's evidence, as if the server had behaved that way. */
export interface Mutant {
  readonly kind: MutantKind;
  /** The change: "a required field is left out". */
  readonly operator: string;
  /** The place: an endpoint and a status, `stream events`, or `deliveries`. */
  readonly place: string;
  /** The header, field or event that is changed. */
  readonly subject: string;
  /** Id of the exchange or delivery; of the first, if there are several. */
  readonly id: string;
  /** Clauses that cover the change according to the document's tables. One of them must turn red if it is illegal. */
  readonly expects: readonly ClauseId[];
  readonly make: () => Replacement;
}

/** Makes a mutant. It is legal if no clause covers the change. */
export const mutantOf = (
  operator: string,
  where: Pick<Mutant, "place" | "subject" | "id">,
  expects: readonly ClauseId[],
  make: Mutant["make"],
): Mutant => ({ kind: expects.length === 0 ? "legal" : "illegal", operator, ...where, expects, make });

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
