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

/** A change to recorded messages of a correct server. For example, a field of a response is left out. */
export interface Mutant {
  /**
   * `illegal`: the document forbids the change, so a check must fail. `legal`: no check's outcome is allowed to get
   * worse.
   */
  readonly kind: "illegal" | "legal";
  /** Name of the kind of change, such as "a required field is left out". */
  readonly operator: string;
  /** Names the changed messages, such as `invoke 200` or `first deliveries of agent.completed`. */
  readonly place: string;
  readonly subject: string;
  readonly id: string;
  /** Clauses that forbid the change; at least one of these clauses must fail. Empty if the change is legal. */
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
