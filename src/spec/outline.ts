import type { ClauseId } from "./clauses.ts";
import { authenticationSections } from "./outline/authentication.ts";
import { accountEndpointSections } from "./outline/endpoints-of-accounts.ts";
import { agentEndpointSections } from "./outline/endpoints-of-agents.ts";
import { errorSections } from "./outline/errors.ts";
import { eventSections } from "./outline/events.ts";
import type { Item, Section } from "./outline/item.ts";
import { limitSections } from "./outline/limits.ts";
import { resourceSections } from "./outline/resources.ts";
import { serviceSections } from "./outline/service.ts";
import { stateSections } from "./outline/states.ts";
import { versioningSections } from "./outline/versioning.ts";

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

/** Returns the places that state a clause, or that it follows from: headings, and numbered items under them. */
export function placesCiting(id: ClauseId): string[] {
  const places = outline.flatMap(({ heading, items }) => {
    const citing = items.filter((item) => clausesOf(item).includes(id));
    return citing.flatMap(({ at }) => (isItemNumber(at) ? [heading, `${heading} ${at}`] : [heading]));
  });
  return [...new Set(places)];
}

/** Whether an item is numbered rather than named. */
export const isItemNumber = (at: string): boolean => /^\d+$/.test(at);
