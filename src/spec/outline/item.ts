import type { ClauseId } from "../clauses.ts";

interface At {
  /** Its number; the name of its field, row, header or code; or `text` for what stands beside lists and tables. */
  readonly at: string;
  /** What it speaks of, in a few words of our own. */
  readonly about: string;
}

/** One item of the interface document: a numbered sentence or a part of it, a row of a table, a code, an example. */
export type Item =
  | (At & { readonly kind: "stated"; readonly clauses: readonly ClauseId[] })
  /** No clause: `why` says what keeps a server from breaking it, or where it is said instead. */
  | (At & { readonly kind: "without clause"; readonly why: string });

/** A heading of the document, below its parents (joined by ` / `), and every item under it. */
export interface Section {
  readonly heading: string;
  readonly items: readonly Item[];
}

export const stated = (at: string, about: string, ...clauses: readonly [ClauseId, ...ClauseId[]]): Item => ({
  kind: "stated",
  at,
  about,
  clauses,
});

export const withoutClause = (at: string, about: string, why: string): Item => ({
  kind: "without clause",
  at,
  about,
  why,
});
