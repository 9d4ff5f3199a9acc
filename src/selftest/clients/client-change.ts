import type { ClauseId } from "../../spec/clauses.ts";

/** A change of an example client's source that makes the client wrong, or correct but unusual. */
export interface ClientChange {
  readonly name: string;
  readonly breaks: ClauseId | null;
  /** Whether the test of the changed client must inject trouble: 429, 5xx, connection resets and small pages. */
  readonly needsTrouble: boolean;
  readonly replace: readonly (readonly [before: string, after: string])[];
}

/** Returns a change that makes the client send a wrong request. The mistake shows without injected errors. */
export const wrongRequest = (name: string, breaks: ClauseId, before: string, after: string): ClientChange => ({
  name,
  breaks,
  needsTrouble: false,
  replace: [[before, after]],
});

/**
 * Returns a change that makes the client react wrongly, e.g. to a 429. Only errors or unusual responses, such as small
 * pages, reveal the mistake.
 */
export const wrongReaction = (
  name: string,
  breaks: ClauseId,
  ...replace: readonly (readonly [before: string, after: string])[]
): ClientChange => ({ name, breaks, needsTrouble: true, replace });

export const legalClient = (
  name: string,
  ...replace: readonly (readonly [before: string, after: string])[]
): ClientChange => ({ name, breaks: null, needsTrouble: true, replace });

/** Returns the source of a client with the change applied. Throws if the source lacks a text to replace. */
export function applyChange(source: string, { name, replace }: Pick<ClientChange, "name" | "replace">): string {
  return replace.reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Error(`the client has no ${JSON.stringify(before)} for: ${name}`);
    return text.replace(before, () => after);
  }, source);
}
