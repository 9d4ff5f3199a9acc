import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ConfiguredPaths } from "../../spec/endpoints.ts";
import type { ProbeResults } from "../../run/judge/judge-evidence.ts";

/** The evidence of a run against a correct server. Each mutant changes one part of it. */
export interface CleanRun {
  /** Name of the tested server in reports, such as "form B". */
  readonly source: string;
  readonly results: ProbeResults;
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
  /** Names of the keys that are valid and have no restrictions. */
  readonly validKeys: readonly string[];
  readonly paths: ConfiguredPaths;
}
