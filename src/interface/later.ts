import type { ClauseId } from "./clauses.ts";

/** Clauses that can be tested and whose checks are still to come. A clause leaves this list with its first check. */
export const clausesToCome: readonly ClauseId[] = [];
