import type { ClauseId } from "./clauses.ts";
import { authenticationSections, limitSections, versioningSections } from "./outline/access.ts";
import { accountEndpointSections, agentEndpointSections } from "./outline/endpoints.ts";
import { errorSections, eventSections } from "./outline/events-and-errors.ts";
import type { Item, Section } from "./outline/item.ts";
import { resourceSections, serviceSections, stateSections } from "./outline/resources.ts";

/** The interface document in outline: every heading that has items, and every item, in its order. */
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

/** Returns the clauses of an item: none for an item without a clause. */
export const clausesOf = (item: Item): readonly ClauseId[] => (item.kind === "stated" ? item.clauses : []);

/** Returns the places that state a clause, or that the clause follows from: headings, and numbered items under them. */
export function placesCiting(id: ClauseId): string[] {
  const places = outline.flatMap(({ heading, items }) => {
    const citing = items.filter((item) => clausesOf(item).includes(id));
    return citing.flatMap(({ at }) => (isItemNumber(at) ? [heading, `${heading} ${at}`] : [heading]));
  });
  return [...new Set(places)];
}

/** Whether an item is identified by a number, not by a name. */
export const isItemNumber = (at: string): boolean => /^\d+$/.test(at);
