import { globOf } from "../../src/base/text.ts";
import type { BenchRow } from "./row.ts";

/**
 * Chooses rows by name, pattern or family (the first part of a name, such as `start`), in the order of the table.
 * Without names, chooses all rows.
 *
 * @throws {Error} if a name fits no row
 */
export function chooseRows(rows: readonly BenchRow[], names: readonly string[]): readonly BenchRow[] {
  const fits = (row: BenchRow, name: string): boolean =>
    [name, `${name}-*`].some((pattern) => globOf(pattern)(row.name));
  const unknown = names.find((name) => !rows.some((row) => fits(row, name)));
  if (unknown !== undefined) throw new Error(`There is no row "${unknown}": \`npm run bench -- --list\` names them.`);
  return names.length === 0 ? rows : rows.filter((row) => names.some((name) => fits(row, name)));
}
