import type { ClauseId } from "../../spec/clauses.ts";

/** What the suites and the reference server know of one clause, as texts. */
export interface CatalogueEntry {
  /** Ids of its checks. */
  readonly checks: readonly string[];
  /** Its checks with what they need, and the patches of the reference server that break it: lines for people. */
  readonly lines: readonly string[];
}

/** Data alone, so that it can be written as JSON. */
export type Catalogue = Readonly<Record<ClauseId, CatalogueEntry>>;
