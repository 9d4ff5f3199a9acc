import { newestRequirements, type RequirementSet } from "../../spec/requirements.ts";
import type { EngineName } from "../../load/scenarios.ts";
import type { TierName } from "../../spec/tiers.ts";

/** Which load to send, and how. */
export interface LoadParameters {
  /** Names of the scenarios to send. An empty list stands for the default scenarios. */
  readonly scenarios: readonly string[] | "all";
  /**
   * The load engine. `first`: the engine that each scenario prefers. `in turns`: k6 and autocannon alternate from
   * scenario to scenario.
   */
  readonly engine: EngineName | "first" | "in turns";
  /** Number of k6 processes among which the load of each trial is divided. */
  readonly segments: number;
  /** The tier to load. `null`: every tier for which the target has a key. */
  readonly tier: TierName | null;
  /** Maximum number of requests of the load. A trial that would exceed it is skipped. */
  readonly maxRequests: number;
  /** The requirement set to judge by. */
  readonly requirements: RequirementSet;
}

/** Default parameters: the default scenarios on every tier, each with its preferred engine, without a limit of requests. */
export const defaultLoadParameters: LoadParameters = {
  scenarios: [],
  engine: "first",
  segments: 1,
  tier: null,
  maxRequests: Number.POSITIVE_INFINITY,
  requirements: newestRequirements,
};
