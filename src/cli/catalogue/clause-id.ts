import { type ClauseId, clauseIds, isClauseId } from "../../interface/clauses.ts";
import { UsageProblem } from "../../target/problem.ts";

/**
 * A clause id as a person typed it.
 *
 * @throws {UsageProblem} that names the nearest ids.
 */
export function readClauseId(text: string): ClauseId {
  const id = text.toUpperCase();
  if (isClauseId(id)) return id;
  const family = clauseIds.filter((each) => each.startsWith(`${id.split("-")[0]}-`));
  const near =
    family.length > 0
      ? `${family[0]} to ${family.at(-1)}`
      : [...new Set(clauseIds.map((each) => `${each.split("-")[0]}-*`))].join(", ");
  throw new UsageProblem(`There is no clause ${JSON.stringify(text)}. There are: ${near}.`);
}
