/**
 * How binding a clause is.
 *
 * - `must`: the document states it; a breach fails the run.
 * - `should`: the document advises it; a breach is a warning.
 * - `advisory`: the document does not state it, but a field's plain meaning makes anything else surprising; a breach is a note.
 * - `gap`: the document says "not shown" or is silent; what a target does is observed, never judged.
 * - `policy`: a promise about time or people that no request can show.
 */
export type Level = "must" | "should" | "advisory" | "gap" | "policy";

/** What the breach of a clause is called, by its level: of a gap nothing is broken, and of a policy nothing can be shown. */
export const breachOutcomeByLevel = {
  must: "fail",
  should: "warning",
  advisory: "note",
  gap: "observed",
  policy: "error",
} as const satisfies Readonly<Record<Level, string>>;

/** One statement of the interface document. Its id is the key under which it stands and is never reused or renumbered. */
export interface Clause {
  /** Heading of the document, with the item's number where it has one. */
  readonly section: string;
  readonly level: Level;
  /** The statement, in our own words. */
  readonly says: string;
  /** Behaviours that the words allow, by name. A target follows one of them throughout. */
  readonly readings?: Readonly<Record<string, string>>;
  /** Why no request to a target can show it. */
  readonly untestable?: string;
}

export type ClauseTable = Readonly<Record<string, Clause>>;
