import type { ClauseId } from "../../spec/clauses.ts";

/** Something the document leaves open, what this server does there, and the variants that do otherwise. */
export interface Gap {
  /** The clauses that name the gap; empty where the document is silent without saying so. */
  readonly clauses: readonly ClauseId[];
  readonly open: string;
  readonly chosen: string;
  /** Names of variants. */
  readonly otherwise: readonly string[];
}
