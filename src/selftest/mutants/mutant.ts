import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ClauseId } from "../../spec/clauses.ts";

/** The exchanges and deliveries to put in place of others, by id; `null` removes a delivery. */
export interface Replacement {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly deliveries: ReadonlyMap<string, Delivery | null>;
}

/**
 * Whether a change breaks the document.
 *
 * - `illegal`: it does, and a clause must turn red.
 * - `legal`: the document allows the change, and no outcome may change.
 */
type MutantKind = "illegal" | "legal";

/** A change of the evidence of a clean run, as if the server had behaved differently. */
export interface Mutant {
  readonly kind: MutantKind;
  /** The kind of change, such as "a required field is left out". */
  readonly operator: string;
  /** The changed message: an endpoint and a status, `stream events`, or `deliveries`. */
  readonly place: string;
  /** The header, field or event that is changed. */
  readonly subject: string;
  /** Id of the first exchange or delivery that is changed. */
  readonly id: string;
  /**
   * The clauses that speak about the changed part, by the document's tables. For an illegal mutant, one of them must
   * turn red.
   */
  readonly expects: readonly ClauseId[];
  readonly make: () => Replacement;
}

/** Creates a mutant. A mutant is legal if no clause covers its change. */
export const mutantOf = (
  operator: string,
  where: Pick<Mutant, "place" | "subject" | "id">,
  expects: readonly ClauseId[],
  make: Mutant["make"],
): Mutant => ({ kind: expects.length === 0 ? "legal" : "illegal", operator, ...where, expects, make });

const noReplacements = new Map<string, never>();

export const replacingExchanges = (...exchanges: readonly Exchange[]): Replacement => ({
  exchanges: new Map(exchanges.map((each) => [each.id, each])),
  deliveries: noReplacements,
});

export const replacingDeliveries = (...deliveries: readonly Delivery[]): Replacement => ({
  exchanges: noReplacements,
  deliveries: new Map(deliveries.map((each) => [each.id, each])),
});

export const withoutDelivery = ({ id }: Delivery): Replacement => ({
  exchanges: noReplacements,
  deliveries: new Map([[id, null]]),
});
