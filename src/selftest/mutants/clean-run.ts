import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ConfiguredPaths } from "../../spec/endpoints.ts";
import type { ProbeResults } from "../../run/judge/judge-evidence.ts";

/** The evidence of a run that found no breach. Mutants change one part of it. */
export interface CleanRun {
  /** Name of the server that was tested. */
  readonly source: string;
  readonly results: ProbeResults;
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
  /** Names of the valid keys without restrictions. */
  readonly validKeys: readonly string[];
  readonly paths: ConfiguredPaths;
}
