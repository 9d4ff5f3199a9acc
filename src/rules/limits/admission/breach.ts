import type { LimitName } from "./models.ts";

/**
 * - `too many admitted`: more requests were admitted than any limiter with the published numbers would admit.
 * - `refused below limit`: a request was refused although no limit can have been reached.
 * - `inconsistent`: each response alone fits some limiter, but no single limiter fits all of them.
 */
export type BreachKind = "too many admitted" | "refused with room" | "no one limiter";

export interface LimitBreach {
  readonly kind: "breach";
  readonly breach: BreachKind;
  readonly limit: LimitName | "concurrency" | "any";
  readonly expected: string;
  readonly actual: string;
  /** Ids of the decisions that prove the breach on their own. A decision that stands for several requests is named once for each. */
  readonly witness: readonly string[];
}
