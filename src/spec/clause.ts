/**
 * How binding a clause is.
 *
 * - `must`: the document states it; a breach fails the run.
 * - `should`: the document advises it; a breach is a warning.
 * - `advisory`: the document does not state it, but a field's plain meaning makes anything else surprising; a breach is a note.
 * - `gap`: the document says "not shown" or is silent; the target's behaviour is observed, never judged.
 * - `policy`: a promise about time or people that no request can show.
 */
export type Level = "must" | "should" | "advisory" | "gap" | "policy";

/** The outcome that a report gives to a breach, by the clause's level. */
export const breachOutcomeByLevel = {
  must: "fail",
  should: "warning",
  advisory: "note",
  gap: "observed",
  policy: "error",
} as const satisfies Readonly<Record<Level, string>>;

/** One statement of the interface document. Its key in the table is its id, which is never reused or renumbered. */
export interface Clause {
  /** Heading of the document, with the item's number if it has one. */
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
