import type { ClauseId } from "../../spec/clauses.ts";

/** A case that the document leaves open, this server's choice, and the variants with another choice. */
export interface Gap {
  /** The clauses about the case; empty if no clause mentions it. */
  readonly clauses: readonly ClauseId[];
  readonly open: string;
  readonly chosen: string;
  /** Names of variants. */
  readonly otherwise: readonly string[];
}
