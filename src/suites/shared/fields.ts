import { valuesAt } from "../../rules/bodies/fields.ts";
import { clauseOf, type JudgedId, type ReadingOf } from "../../spec/clauses.ts";
import { type FieldTableName, rowsOf } from "../../spec/fields.ts";
import { type Finding, follows, holds } from "../../run/judge/finding.ts";

/** Where a clause tells whether a field is there, the first of its rows unless told: whether any of these has it. */
export function judgePresence<K extends JudgedId>(
  table: FieldTableName,
  clause: K,
  roots: readonly unknown[],
  path = rowsOf(table, clause).at(0)?.path ?? "",
): Finding<ReadingOf<K>> {
  const { readings = {} } = clauseOf(clause);
  if (!("absent" in readings && "present" in readings)) return holds();
  const isThere = roots.some((root) => valuesAt(root, path).some(({ value }) => value !== undefined && value !== null));
  return follows((isThere ? "present" : "absent") as ReadingOf<K>);
}
