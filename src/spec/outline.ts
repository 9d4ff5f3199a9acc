import type { ClauseId } from "./clauses.ts";
import {
  authenticationSections,
  errorSections,
  eventSections,
  limitSections,
  versioningSections,
} from "./outline/general.ts";
import { accountEndpointSections, agentEndpointSections } from "./outline/endpoints.ts";
import type { Item, Section } from "./outline/item.ts";
import { resourceSections, serviceSections, stateSections } from "./outline/resources.ts";

/** The outline of the interface document: every heading that has items, and every item, in order. */
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

export const clausesOf = (item: Item): readonly ClauseId[] => (item.kind === "stated" ? item.clauses : []);

/** Returns where the document states a clause, as headings and numbered items: `Authentication`, `Authentication 3`. */
export function placesCiting(id: ClauseId): string[] {
  const places = outline.flatMap(({ heading, items }) => {
    const citing = items.filter((item) => clausesOf(item).includes(id));
    return citing.flatMap(({ at }) => (isItemNumber(at) ? [heading, `${heading} ${at}`] : [heading]));
  });
  return [...new Set(places)];
}

export const isItemNumber = (at: string): boolean => /^\d+$/.test(at);
