import type { EngineName } from "../../load/scenarios.ts";
import type { TierName } from "../../spec/tiers.ts";

/** What load somebody wants. */
export interface LoadParameters {
  /** Names of scenarios; none of them: the short set. */
  readonly scenarios: readonly string[] | "all";
  /** `first`: each scenario's own first choice; `in turns`: one after the other, so that both are used. */
  readonly engine: EngineName | "first" | "in turns";
  /** So many processes of k6 share the load. */
  readonly segments: number;
  /** `null`: every tier that there are keys of. */
  readonly tier: TierName | null;
  /** What does not fit is skipped; `Infinity`: as many as the scenarios send. */
  readonly maxRequests: number;
}

/** The short set, each scenario by its own first engine, on every tier, without a bound. */
export const defaultLoadParameters: LoadParameters = {
  scenarios: [],
  engine: "first",
  segments: 1,
  tier: null,
  maxRequests: Number.POSITIVE_INFINITY,
};
