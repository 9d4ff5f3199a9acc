import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ProbeResults } from "../../run/judge/judge-evidence.ts";
import type { ClauseId } from "../../spec/clauses.ts";
import type { ConfiguredPaths } from "../../spec/endpoints.ts";

/** The evidence of a run against a correct server. Each mutant changes one part of it. */
export interface CleanRun {
  /** Name of the server that gave this evidence. */
  readonly source: string;
  readonly results: ProbeResults;
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
  readonly validKeys: readonly string[];
  readonly paths: ConfiguredPaths;
}

/** Maps ids of exchanges and deliveries to their new versions; `null` removes a delivery. */
export interface Replacement {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly deliveries: ReadonlyMap<string, Delivery | null>;
}

/** A change of a clean run's evidence, as if the server had behaved differently. */
export interface Mutant {
  /** `illegal`: the document forbids the change, so a check must fail. `legal`: no outcome may change. */
  readonly kind: "illegal" | "legal";
  /** Name of the kind of change, such as "a required field is left out". */
  readonly operator: string;
  /** Kind of the changed message: an endpoint with a status, `stream events`, or `deliveries`. */
  readonly place: string;
  readonly subject: string;
  readonly id: string;
  /** The clauses that forbid the change. At least one of them must fail. */
  readonly expects: readonly ClauseId[];
  readonly make: () => Replacement;
}

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
