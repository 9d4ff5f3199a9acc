import type { ClauseId } from "../clauses.ts";

interface ItemPlace {
  /** Place in the document: a number in a list, the name of a row, header or code, or `text` for a paragraph. */
  readonly at: string;
  /** The subject of the item, in a few words of our own. */
  readonly about: string;
}

/** One item of the document: a numbered sentence or a part of one, a row, a code, or an example. */
export type Item =
  | (ItemPlace & { readonly kind: "stated"; readonly clauses: readonly ClauseId[] })
  /** An item without a clause. `why` says why no server can break it, or which other item states the same. */
  | (ItemPlace & { readonly kind: "without clause"; readonly why: string });

/** A heading of the document, with the headings above it (joined by ` / `) and the items under it. */
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
