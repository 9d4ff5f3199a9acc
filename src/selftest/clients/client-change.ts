import type { ClauseId } from "../../spec/clauses.ts";

/** A client that differs from the example in its language. */
export interface ClientChange {
  readonly name: string;
  /** The clause that the change breaks; `null` for a legal client. */
  readonly breaks: ClauseId | null;
  /** Whether only a run under trouble shows the change. */
  readonly needsTrouble: boolean;
  /** Texts of the example, and what replaces each. */
  readonly replace: readonly (readonly [before: string, after: string])[];
}

/** Clients that send wrong requests. A run without trouble shows them. */
export const wrongRequest = (name: string, breaks: ClauseId, before: string, after: string): ClientChange => ({
  name,
  breaks,
  needsTrouble: false,
  replace: [[before, after]],
});

/** Clients that treat failures, streams or pages wrongly. */
export const wrongReaction = (
  name: string,
  breaks: ClauseId,
  ...replace: readonly (readonly [before: string, after: string])[]
): ClientChange => ({ name, breaks, needsTrouble: true, replace });

/** Clients that are unusual, and legal. */
export const legal = (
  name: string,
  ...replace: readonly (readonly [before: string, after: string])[]
): ClientChange => ({ name, breaks: null, needsTrouble: true, replace });

/** Changes the source of a client. Throws if a text to replace is not there. */
export function changed(source: string, { name, replace }: Pick<ClientChange, "name" | "replace">): string {
  return replace.reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Error(`the client has no ${JSON.stringify(before)} for: ${name}`);
    return text.replace(before, () => after);
  }, source);
}
