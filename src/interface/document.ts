import type { ClauseId } from "./clauses.ts";
import { authenticationSections } from "./document/authentication.ts";
import { accountEndpointSections } from "./document/endpoints-of-accounts.ts";
import { agentEndpointSections } from "./document/endpoints-of-agents.ts";
import { errorSections } from "./document/errors.ts";
import { eventSections } from "./document/events.ts";
import type { Item, Section } from "./document/item.ts";
import { limitSections } from "./document/limits.ts";
import { resourceSections } from "./document/resources.ts";
import { serviceSections } from "./document/service.ts";
import { stateSections } from "./document/states.ts";
import { versioningSections } from "./document/versioning.ts";

/** The interface document in outline: every heading that something stands under, and every item, in its order. */
export const outline: readonly Section[] = [
  ...serviceSections,
  ...resourceSections,
  ...stateSections,
  ...agentEndpointSections,
  ...accountEndpointSections,
  ...authenticationSections,
  ...eventSections,
  ...errorSections,
  ...limitSections,
  ...versioningSections,
];

/** The clauses of an item; none where it says why. */
export const clausesOf = (item: Item): readonly ClauseId[] => (item.kind === "stated" ? item.clauses : []);

/** The places with an item that states a clause, or that it follows from: headings, and numbered items under them. */
export function placesCiting(id: ClauseId): string[] {
  const places = outline.flatMap(({ heading, items }) => {
    const citing = items.filter((item) => clausesOf(item).includes(id));
    return citing.flatMap(({ at }) => (isNumber(at) ? [heading, `${heading} ${at}`] : [heading]));
  });
  return [...new Set(places)];
}

/** Whether an item has a number, as against a name. */
export const isNumber = (at: string): boolean => /^\d+$/.test(at);
