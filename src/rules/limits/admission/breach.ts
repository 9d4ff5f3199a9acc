import type { LimitName } from "./models.ts";

/**
 * - `too many admitted`: more were let through than any limiter of the published numbers would.
 * - `refused with room`: a request was refused although no limit can have been reached.
 * - `no one limiter`: every single answer can be explained, but not all of them by one limiter.
 */
export type BreachKind = "too many admitted" | "refused with room" | "no one limiter";

export interface LimitBreach {
  readonly kind: "breach";
  readonly breach: BreachKind;
  readonly limit: LimitName | "concurrency" | "any";
  readonly expected: string;
  readonly actual: string;
  /** Ids of decisions that prove the breach, whatever became of all the others; one for each request that they stand for. */
  readonly witness: readonly string[];
}
