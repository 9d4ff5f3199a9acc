import type { ClauseId } from "../clauses.ts";

interface ItemPlace {
  /**
   * Position under the heading, e.g. `3` for list item 3 or `text` for a paragraph. A table row, a header or a code is
   * given by its name.
   */
  readonly at: string;
  readonly about: string;
}

/** One item of the interface document, such as a numbered sentence, a table row or an example. */
export type Item =
  | (ItemPlace & { readonly kind: "stated"; readonly clauses: readonly ClauseId[] })
  /** An item that no clause states. `why` gives the reason, such as a repetition of another item. */
  | (ItemPlace & { readonly kind: "without clause"; readonly why: string });

/** A heading of the document and its items. `heading` includes the parent headings, joined by ` / `. */
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
