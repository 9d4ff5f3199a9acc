import { type ClauseId, clauseIds, isClauseId } from "../../spec/clauses.ts";
import { UsageError } from "../../base/usage-error.ts";

/**
 * A clause id as a person typed it.
 *
 * @throws {UsageError} that names the nearest ids.
 */
export function readClauseId(text: string): ClauseId {
  const id = text.toUpperCase();
  if (isClauseId(id)) return id;
  const family = clauseIds.filter((each) => each.startsWith(`${id.split("-")[0]}-`));
  const near =
    family.length > 0
      ? `${family[0]} to ${family.at(-1)}`
      : [...new Set(clauseIds.map((each) => `${each.split("-")[0]}-*`))].join(", ");
  throw new UsageError(`There is no clause ${JSON.stringify(text)}. There are: ${near}.`);
}
